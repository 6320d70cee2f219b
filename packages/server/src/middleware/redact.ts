/** `redact()`: takes out of results what looks like a secret. */

import { isInputRequired } from '@mortise/protocol/checks';
import type { Middleware } from './middleware.ts';
import { createRedactor, type RedactOptions } from '../create-redactor.ts';

const DEFAULT_METHODS: readonly string[] = ['tools/call', 'resources/read', 'prompts/get', 'completion/complete'];

/** What is looked for, and where. */
export interface RedactMiddlewareOptions extends RedactOptions {
  /** Whose results are looked through. @default `tools/call`, `resources/read`, `prompts/get`, `completion/complete` */
  readonly methods?: readonly string[] | undefined;
}

/**
 * Puts a mark in place of keys, tokens and passwords in what the server answers, in text and in structured content alike.
 *
 * Does NOT look into encoded bytes (`data`, `blob`), nor into questions to the client. Log messages have their own
 * (`ServerOptions.logging`).
 *
 * @see 2026-07-28 server/tools#security-considerations
 */
export function redact(options: RedactMiddlewareOptions = {}): Middleware {
  const methods = new Set(options.methods ?? DEFAULT_METHODS);
  const hide = createRedactor(options);
  return async (call, next) => {
    const result = await next();
    return methods.has(call.method) && !isInputRequired(result) ? hide(result) : result;
  };
}
