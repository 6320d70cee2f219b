/** Checks what a server is made of. */

import { isLoggingLevel } from '@mortise/protocol/checks';
import { checkType, checkTypes, type Kind } from './check-types.ts';
import { RegistrationError } from './errors.ts';
import { noSuchLevel } from './logging.ts';
import type { McpServerOptions } from './mcp-server.ts';
import { checkShown } from './registry/check-shown.ts';
import { refuseUnknown } from './registry/refuse-unknown.ts';

/** All that there are: the compiler sees to it. */
const OPTIONS: Readonly<Record<keyof McpServerOptions, Kind>> = {
  capabilities: 'object',
  instructions: 'string',
  revisions: 'list',
  context: 'function',
  extensions: 'list',
  messageBus: 'object',
  validator: 'object',
  handlerTimeoutMs: 'amount',
  askTimeoutMs: 'amount',
  requestState: 'object',
  roots: 'object',
  pageSize: 'count',
  cursorKey: 'bytes',
  debounceMs: 'amount',
  sendsServerInfo: 'boolean',
  cache: 'object',
  progress: 'object',
  logging: 'object',
  keepAlive: 'setting',
  describeError: 'function',
  maxSubscriptions: 'amount',
  maxListens: 'amount',
  maxInFlightBytes: 'amount',
  maxQueuedNotifications: 'amount',
  clock: 'object',
  logger: 'logger',
  tracer: 'object',
  tools: 'object',
  prompts: 'object',
  resources: 'object',
};

/** @throws {RegistrationError} `ERR_REGISTRATION`: an argument is missing, has a member of another type, or an option that there is not. */
export function checkServer(info: unknown, options: unknown): void {
  checkType('The first argument of a new server, { name, version },', info, 'object');
  const { name, version } = info as Readonly<Record<string, unknown>>;
  checkType('the server: "name"', name, 'string');
  checkType('the server: "version"', version, 'string');
  checkShown('the server', info as object);
  checkTypes("the server's options", options, OPTIONS);
  refuseUnknown("the server's options", options as object, Object.keys(OPTIONS));
  checkParts(options as McpServerOptions);
  const { extensions = [] } = options as { readonly extensions?: readonly unknown[] };
  for (const extension of extensions) checkType("the server's options: each extension", extension, 'object');
}

/** Options that are objects of bounds and the like. `requestState.keys` and `cache` are checked by files of their own. */
const PARTS = {
  requestState: { ttlMs: 'amount', maxStateBytes: 'amount', store: 'object', replay: 'object', maxRounds: 'amount' },
  progress: { minIntervalMs: 'amount', burst: 'amount' },
  logging: { burst: 'amount', perSecond: 'amount' },
  keepAlive: { everyMs: 'amount', timeoutMs: 'amount', failures: 'count' },
} as const satisfies Partial<Record<keyof McpServerOptions, Readonly<Record<string, Kind>>>>;

/** A bound that is no number would silently be none. */
function checkParts(options: McpServerOptions): void {
  for (const [name, kinds] of Object.entries(PARTS)) {
    const part = options[name as keyof typeof PARTS];
    if (typeof part === 'object') checkTypes(`the server's options: "${name}"`, part, kinds);
  }
  const level = options.logging?.defaultLevel;
  if (level !== undefined && !isLoggingLevel(level))
    throw new RegistrationError(`the server's options: "logging": ${noSuchLevel(level).message}`);
}
