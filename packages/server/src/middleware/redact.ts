/** `redact()`: takes out of results what looks like a secret. */

import { isInputRequired } from '@mortise/protocol/checks';
import type { Middleware } from './middleware.ts';
import { createRedactor, type RedactOptions } from '../create-redactor.ts';

const METHODS: readonly string[] = ['tools/call', 'resources/read', 'prompts/get', 'completion/complete'];

/**
 * Puts a mark in place of keys, tokens and passwords in results of tools, resources, prompts and completion, in text and in structured
 * content alike.
 *
 * Does NOT look into encoded bytes (`data`, `blob`), nor into questions to the client.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is not known, or has an invalid value.
 * @see 2026-07-28 server/tools#security-considerations
 */
export function redact(options: RedactOptions = {}): Middleware {
  const hide = createRedactor(options);
  return async (call, next) => {
    const result = await next();
    return METHODS.includes(call.method) && !isInputRequired(result) ? hide(result) : result;
  };
}
