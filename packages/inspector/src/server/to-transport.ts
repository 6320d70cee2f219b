/** `toTransport`: makes a transport to what the page or the program named. */

import { MemoryCredentialStore } from '@mortise/auth-oauth/client';
import type { ClientTransportSource } from '@mortise/client';
import { wrapTransport } from '@mortise/jsonrpc-core/wrap';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { httpTransport, SSEClientTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import type { ProgramTarget, ServerTarget, UrlTarget } from '../messages.ts';
import { createAuthorizer, type SignInEvents } from './sign-in.ts';
import type { Wire } from './wire.ts';

const choices = { type: 'string', name: 'string', era: 'string', protocolVersion: 'string' } as const;
const PROGRAM: OptionTable<ProgramTarget> = { ...choices, command: 'string', args: 'array', env: 'object', cwd: 'string' };
const URL_TARGET: OptionTable<UrlTarget> = { ...choices, url: 'string', headers: 'object' };

/** What a transport reports besides messages. */
export interface TransportEvents extends SignInEvents {
  /** Called with each line that a program writes to its error output. */
  onStderr(line: string): void;
}

/** Tokens and registrations stay in memory: a second connection to the same server needs no second sign-in. */
const credentials = new MemoryCredentialStore();

/** Checks what the page or the program named. @throws {TypeError} It is not a target. */
export function checkTarget(target: ServerTarget): void {
  const { type } = Object(target) as Partial<ServerTarget>;
  if (type === 'stdio') checkOptions('inspector target', target as ProgramTarget, PROGRAM);
  else if (type === 'http' || type === 'sse' || type === 'websocket') checkOptions('inspector target', target as UrlTarget, URL_TARGET);
  else throw new TypeError(`inspector target: "type" must be stdio, http, sse or websocket, got ${JSON.stringify(type)}`);
}

/** The name to show for a target. */
export const nameOf = (target: ServerTarget): string =>
  target.name ?? (target.type === 'stdio' ? [target.command, ...(target.args ?? [])].join(' ') : target.url);

/** Makes a transport whose messages `wire` records. @throws {TypeError} The URL or a header is not valid. */
export function toTransport(target: ServerTarget, wire: Wire, events: TransportEvents): ClientTransportSource {
  const hooks = (): ReturnType<Wire['hooks']> => wire.hooks();
  if (target.type === 'stdio') {
    const { command, args, env, cwd } = target;
    const stderr = (line: string): void => events.onStderr(line);
    return wrapTransport(stdioTransport({ command, args, env, cwd, stderr }), hooks);
  }
  const { url, headers = {} } = target;
  const isSigned = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const auth = isSigned || target.type === 'websocket' ? {} : { authorizer: createAuthorizer(url, credentials, events) };
  if (target.type === 'websocket') return wrapTransport(webSocketTransport(url, { headers }), hooks);
  if (target.type === 'http') return wrapTransport(httpTransport(url, { headers, ...auth }), hooks);
  return () => wrapTransport(new SSEClientTransport(url, { headers, ...auth }), hooks());
}
