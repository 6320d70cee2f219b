/** Checks what a server is made of. */

import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision } from '@mortise/protocol';
import type { CacheScope, Implementation } from '@mortise/protocol/model';
import { RegistrationError } from './errors.ts';
import type { ServerOptions } from './options.ts';

/** The options of `McpServer` that hold tools, prompts and resources made elsewhere: checked with each registration. */
type Values = { readonly tools?: object; readonly prompts?: object; readonly resources?: object };

const KEY_BYTES = 32;

/** @throws {RegistrationError} `ERR_REGISTRATION`: an argument is missing, an option is unknown or of another kind. */
export function checkServer(info: Implementation, options: ServerOptions & Values): void {
  if (typeof info !== 'object' || (info as unknown) === null || typeof info.name !== 'string' || typeof info.version !== 'string')
    throw new RegistrationError('The first argument of a new server is { name, version }, both strings');
  checkOptions<ServerOptions & Values>(
    "the server's options",
    options,
    {
      capabilities: 'any',
      instructions: 'string',
      revisions: 'array',
      context: 'function',
      extensions: 'array',
      messageBus: 'object',
      validator: 'object',
      handlerTimeoutMs: 0,
      requestState: { keys: 'array', ttlMs: 0, store: 'object', replay: 'object', maxRounds: 0 },
      pageSize: 1,
      cache: { listTtlMs: 0, readTtlMs: 0, listScope: 'string' },
      keepAliveMs: 1,
      describeError: 'function',
      maxSubscriptions: 0,
      maxInFlightBytes: 0,
      tracer: 'object',
      logger: 'object',
      clock: 'object',
      tools: 'object',
      prompts: 'object',
      resources: 'object',
    },
    RegistrationError,
  );
  const { listTtlMs = 0, readTtlMs = 0, listScope = 'public' } = options.cache ?? {};
  if (!isTtl(listTtlMs) || !isTtl(readTtlMs) || !isCacheScope(listScope))
    throw new RegistrationError('cache: "listTtlMs" and "readTtlMs" are integers of milliseconds, "listScope" is "public" or "private"');
  for (const key of options.requestState?.keys ?? []) {
    if (ArrayBuffer.isView(key) && key.length === KEY_BYTES) continue;
    throw new RegistrationError(
      `requestState.keys: a key is a Uint8Array of ${KEY_BYTES} bytes: make it with crypto.getRandomValues(new Uint8Array(${KEY_BYTES}))`,
    );
  }
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: something else than a revision, or none. */
export function chooseRevisions(given: readonly Revision[] = REVISIONS): readonly Revision[] {
  if (given.length === 0 || given.some((each) => !REVISIONS.includes(each)))
    throw new RegistrationError("revisions: give values of @mortise/protocol, at least one, such as revisionsOf('modern')");
  return REVISIONS.filter((revision) => given.includes(revision));
}

/** Whether a value can be a `ttlMs`. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}
