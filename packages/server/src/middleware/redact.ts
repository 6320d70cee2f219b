/** `redact()` and `createRedactor()`: remove secrets found by known formats, member names and your own patterns, also inside JSON text. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isInputRequired } from '@mortise/protocol/checks';
import { RegistrationError } from '../errors.ts';
import { foldName, hideInText, hideSecrets, isSecretName, REDACTED } from '../hide-secrets.ts';
import type { Middleware } from './middleware.ts';

/** The longest text, in characters, that is parsed as JSON to find secrets by member names in it. */
const MAX_JSON_CHARACTERS = 1_048_576;

/** What `redact` and `createRedactor` remove as secrets, besides the well-known formats and names. */
export interface RedactOptions {
  /** Further patterns of secrets. They run on everything that is sent, so they must match in linear time. @default none */
  readonly patterns?: readonly RegExp[] | undefined;
  /** Further names of object members whose values are secrets. Case, `_` and `-` are ignored. @default none */
  readonly names?: readonly string[] | undefined;
}

/** A function that removes secrets from a JSON value. A value without secrets is returned unchanged, not copied. */
export type Redactor = <T extends JsonValue>(value: T) => T;

/**
 * Makes a function that removes likely secrets: keys and tokens of well-known formats, passwords in URLs, and values of members whose names mark a
 * secret.
 *
 * Does NOT find other secrets, such as a plain password in a sentence.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is unknown or invalid.
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

/** Parses text that may be JSON, such as structured content repeated as text, so that secrets in it are found by member names. */
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
 * Makes middleware that replaces keys, tokens and passwords in results of tools, resources, prompts and completion, both in text and in
 * structured content.
 *
 * Does NOT look into encoded bytes (`data`, `blob`) or into requests to the client.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is unknown or invalid.
 * @see 2026-07-28 server/tools#security-considerations
 */
export function redact(options: RedactOptions = {}): Middleware {
  const hide = createRedactor(options);
  return async (call, next) => {
    const result = await next();
    return METHODS.includes(call.method) && !isInputRequired(result) ? hide(result) : result;
  };
}
