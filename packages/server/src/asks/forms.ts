/** Forms and pages as the wire has them: only keywords that clients know, no secrets in forms, safe addresses for pages. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkUrl } from '@mortise/protocol/edge';
import { AskError } from '../errors.ts';

/** What the wire lets a field say. The server checks the rest of its schema itself when the answer comes. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'type title description default minLength maxLength format enum enumNames oneOf minimum maximum minItems maxItems items'.split(' '),
);

/** Words that, alone or as these pairs, name what only a page may ask for. */
const SECRETS: ReadonlySet<string> = new Set(
  (
    'password passwd passphrase passcode apikey accesstoken refreshtoken authtoken bearertoken ' +
    'secretkey clientsecret privatekey creditcard cardnumber cvv cvc'
  ).split(' '),
);

/**
 * @param schema A form as `toFormSchema` gives it.
 * @throws {AskError} `ERR_INVALID_ASK` A field asks for a password, a key, a token or a card, which only a page may do.
 * @see 2026-07-28 client/elicitation#requested-schema
 */
export function toWireForm(schema: JsonObject): JsonObject {
  const { properties } = schema;
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => {
    refuseSecret(name, field);
    return [name, isJsonObject(field) ? toWireField(field) : field] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** Adds the form's defaults for fields that the client left out. */
export function withDefaults(content: JsonObject, { properties }: JsonObject): JsonObject {
  const missing = Object.entries(isJsonObject(properties) ? properties : {})
    .map(([name, field]) => [name, isJsonObject(field) ? field['default'] : undefined] as const)
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(content, name));
  return missing.length === 0 ? content : { ...content, ...Object.fromEntries(missing) };
}

function toWireField(field: JsonObject): JsonObject {
  const { const: only, ...rest } = field;
  const named = typeof only === 'string' && rest['enum'] === undefined ? { ...rest, enum: [only] } : rest;
  return Object.fromEntries(Object.entries(named).filter(([keyword, value]) => KEYWORDS.has(keyword) && !isNoBound(value)));
}

/** Libraries give these bounds to any integer. */
function isNoBound(value: JsonValue | undefined): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}

function refuseSecret(name: string, field: JsonValue | undefined): void {
  const title = isJsonObject(field) ? field['title'] : undefined;
  const secret = [name, ...(typeof title === 'string' ? [title] : [])].find(namesSecret);
  if (secret === undefined) return;
  throw new AskError(
    'ERR_INVALID_ASK',
    `The form's field "${secret}" asks for a secret, which forms must not: send the user to a page of yours ({ mode: 'url', url })`,
  );
}

function namesSecret(text: string): boolean {
  const words = text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.some((word, index) => SECRETS.has(word) || SECRETS.has(word + (words[index + 1] ?? '')));
}

/** Parameters that would hand on a credential, or open the page for anyone who has its address. */
const CREDENTIALS: ReadonlySet<string> = new Set('access_token id_token refresh_token api_key apikey password client_secret'.split(' '));

/**
 * @throws {AskError} `ERR_INVALID_ASK` It is not https (http is good for this machine alone), or carries a credential.
 * @see 2026-07-28 client/elicitation#safe-url-handling
 */
export function checkPageUrl(url: unknown): void {
  const problem =
    typeof url === 'string' ? (checkUrl(url, { allowLoopback: true, allowPrivate: true }) ?? findCredential(url)) : 'URL is missing';
  if (problem !== undefined) throw new AskError('ERR_INVALID_ASK', `A page to open must have a safe address: ${problem}`);
}

function findCredential(url: string): string | undefined {
  const { searchParams, hash } = new URL(url);
  const names = [...searchParams.keys(), ...new URLSearchParams(hash.slice(1)).keys()];
  const credential = names.find((name) => CREDENTIALS.has(name.toLowerCase()));
  return credential === undefined ? undefined : `URL carries "${credential}": let the page find out itself who the user is`;
}
