/** `redact()` and `createRedactor()`: take out secrets, also those of one's own forms and names, and those in JSON that stands in a text. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isInputRequired } from '@mortise/protocol/checks';
import { RegistrationError } from '../errors.ts';
import { foldName, hideInText, hideSecrets, isSecretName, REDACTED } from '../hide-secrets.ts';
import type { Middleware } from './middleware.ts';

/** A longer text is looked at as text only. */
const MAX_JSON_CHARACTERS = 1_048_576;

/** What counts as a secret, beside the well-known forms and names. */
export interface RedactOptions {
  /** Further forms of secrets. Must be linear to match: they run over everything that is sent. @default none */
  readonly patterns?: readonly RegExp[] | undefined;
  /** Further names of members whose values are secrets; case, `_` and `-` make no difference. @default none */
  readonly names?: readonly string[] | undefined;
}

/** Takes secrets out of data. A value without any is given back as it is, not copied. */
export type Redactor = <T extends JsonValue>(value: T) => T;

/**
 * Makes a function that takes out what looks like a secret: well-known forms of keys and tokens, passwords in URLs, values of members
 * with telling names.
 *
 * Does NOT find what has neither a known form nor a telling name, such as a plain password in a sentence.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is not known, or has an invalid value.
 */
export function createRedactor(options: RedactOptions = {}): Redactor {
  checkOptions('createRedactor', options, { patterns: 'array', names: 'array' }, RegistrationError);
  const patterns = (options.patterns ?? []).map(({ source, flags }) => new RegExp(source, flags.includes('g') ? flags : `${flags}g`));
  const names = new Set(options.names?.map(foldName));
  const isSecret = (name: string): boolean => isSecretName(name) || names.has(foldName(name));
  const hide = (text: string): string => patterns.reduce((rest, pattern) => rest.replace(pattern, REDACTED), hideInText(text));
  const hideInJson = (text: string): string => {
    const data = parseJson(text);
    if (data === undefined) return hide(text);
    const cleaned = hideSecrets(data, hide, isSecret);
    return cleaned === data ? text : JSON.stringify(cleaned, undefined, text.includes('\n') ? 2 : undefined);
  };
  return (value) => hideSecrets(value, hideInJson, isSecret);
}

/** Structured content is often repeated as JSON text: there the members' names mark secrets as well. */
function parseJson(text: string): JsonValue | undefined {
  if (!/^\s{0,8}[[{]/.test(text) || text.length > MAX_JSON_CHARACTERS) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

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
