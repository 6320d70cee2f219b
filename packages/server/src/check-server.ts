/** Checks what a server is made of. */

import { checkType, checkTypes, type Kind } from './check-types.ts';
import { checkShown } from './registry/check-shown.ts';

const OPTIONS: Readonly<Record<string, Kind>> = {
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
  pageSize: 'count',
  cursorKey: 'object',
  debounceMs: 'amount',
  cache: 'object',
  progress: 'object',
  logging: 'object',
  describeError: 'function',
  maxSubscriptions: 'amount',
  maxListens: 'amount',
  maxInFlightBytes: 'amount',
  maxQueuedNotifications: 'amount',
  clock: 'object',
  tracer: 'object',
  tools: 'object',
  prompts: 'object',
  resources: 'object',
};

/** @throws {RegistrationError} `ERR_REGISTRATION`: an argument is missing, or has a member of another type. */
export function checkServer(info: unknown, options: unknown): void {
  checkType('The first argument of a new server, { name, version },', info, 'object');
  const { name, version } = info as Readonly<Record<string, unknown>>;
  checkType('the server: "name"', name, 'string');
  checkType('the server: "version"', version, 'string');
  checkShown('the server', info as object);
  checkTypes("the server's options", options, OPTIONS);
  const { extensions, logger } = options as { readonly extensions?: readonly unknown[]; readonly logger?: { readonly log?: unknown } };
  for (const extension of extensions ?? []) checkType("the server's options: each extension", extension, 'object');
  if (logger !== undefined)
    checkType('the server\'s options: "logger" must have a log(level, message, data): its "log"', logger?.log, 'function');
}
