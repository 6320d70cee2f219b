/** `copyMessage`: one message on the wire as a command for a shell, or as a test of a program. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { encodeHeaderValue, METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '@mortise/transport-http';
import type { CopyForm, ServerState, ServerTarget } from '../messages.ts';

/** The texts of the message to copy: a request or notification of the client, and the server's response to it. */
export interface CopiedMessage {
  readonly text: string;
  readonly response: string | undefined;
}

/**
 * Writes a message as a command or as a test.
 *
 * @throws {Error} `curl` of a server that has no HTTP, or a test of a message that is not a request.
 */
export function copyMessage(as: CopyForm, message: CopiedMessage, state: ServerState): string {
  return as === 'curl' ? toCurl(message.text, state) : toTest(message, state);
}

function toCurl(text: string, { target, era, protocolVersion }: ServerState): string {
  if (target.type !== 'http') throw new Error('Only messages over Streamable HTTP can be copied as curl: this server is reached otherwise');
  const { method = '', params = {} } = JSON.parse(text) as { readonly method?: string; readonly params?: JsonObject };
  const name = params['name'] ?? params['uri'];
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(protocolVersion !== undefined && method !== 'initialize' && { [PROTOCOL_VERSION_HEADER]: protocolVersion }),
    ...(era === 'modern' && { [METHOD_HEADER]: method }),
    ...(era === 'modern' && typeof name === 'string' && { [NAME_HEADER]: encodeHeaderValue(name) }),
    ...target.headers,
  };
  const flags = Object.entries(headers).map(([header, value]) => `-H ${quote(`${header}: ${value}`)}`);
  // The id of a session is a secret of its own: the shell takes it from a variable.
  const session = era === 'legacy' && method !== 'initialize' ? [`-H "${SESSION_ID_HEADER}: $MCP_SESSION_ID"`] : [];
  return ['curl -X POST', ...flags, ...session, `--data-raw ${quote(text)}`, quote(target.url)].join(' \\\n  ');
}

/** In single quotes nothing has a meaning for the shell, but the quote itself. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function toTest({ text, response }: CopiedMessage, { target, era }: ServerState): string {
  const { method, params = {} } = JSON.parse(text) as { readonly method?: string; readonly params?: JsonObject };
  if (method === undefined || response === undefined) throw new Error('Only a request with its response can be copied as a test');
  const { result, error } = JSON.parse(response) as { readonly result?: JsonObject; readonly error?: JsonObject };
  const { _meta, ...own } = params;
  const call = `client.request(${literal(method)}, ${indent(own)})`;
  const expectation =
    error === undefined
      ? `expect(await ${call}).toMatchObject(${indent(withoutMeta(result ?? {}))});`
      : `await expect(${call}).rejects.toMatchObject({ rpcCode: ${JSON.stringify(error['code'])} });`;
  const { load, make } = transportCode(target);
  return [
    `import { McpClient } from '@mortise/client';`,
    load,
    `import { expect, it } from 'vitest';`,
    ``,
    `it(${literal(`answers ${method} as before`)}, async () => {`,
    `  await using client = await McpClient.connect(${make}, { name: 'test', version: '1.0.0' }${era === undefined ? '' : `, { era: '${era}' }`});`,
    `  ${expectation}`,
    `});`,
    ``,
  ].join('\n');
}

/** Members that differ from call to call. */
const withoutMeta = ({ _meta, ...result }: JsonObject): JsonObject => result;

/** A value as source text. Escapes characters that are invisible or end a line. */
const literal = (value: unknown, space?: number): string =>
  JSON.stringify(value, null, space).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, escapeCharacter);

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const indent = (value: unknown): string => literal(value, 2).replaceAll('\n', '\n  ');

function transportCode(target: ServerTarget): { readonly load: string; readonly make: string } {
  if (target.type === 'stdio') {
    const { command, args } = target;
    return {
      load: `import { stdioTransport } from '@mortise/transport-stdio/client';`,
      make: `stdioTransport(${literal({ command, args })})`,
    };
  }
  const [module, make] = {
    http: ['transport-http', 'httpTransport'],
    sse: ['transport-http', 'new SSEClientTransport'],
    websocket: ['transport-ws-custom', 'webSocketTransport'],
  }[target.type] as [string, string];
  return { load: `import { ${make.replace('new ', '')} } from '@mortise/${module}/client';`, make: `${make}(${literal(target.url)})` };
}
