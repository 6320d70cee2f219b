/** Checks elicitation requests: forms with only supported fields and keywords and no secrets, and safe URLs. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator, SchemaAdapter } from '@mortise/protocol/contracts';
import { checkUrl } from '@mortise/protocol/edge';
import type { Context } from '../context.ts';
import { AskError, SchemaUnsupportedError } from '../errors.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';

const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/** The JSON Schema keywords sent to the client for a form field. The server checks the full schema when the user's answer arrives. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'type title description default minLength maxLength format enum enumNames oneOf minimum maximum minItems maxItems items'.split(' '),
);

/** Words in field names that mark a secret. Secrets must be requested by URL, never by a form. */
const SECRETS: ReadonlySet<string> = new Set(
  (
    'password passwd passphrase passcode apikey accesstoken refreshtoken authtoken bearertoken ' +
    'secretkey clientsecret privatekey creditcard cardnumber cvv cvc'
  ).split(' '),
);

/** Checks the params of a form elicitation and makes those to send. @see 2026-07-28 client/elicitation#form-mode-elicitation-requests */
export function prepareForm(params: JsonObject, adapter: SchemaAdapter): JsonObject {
  requireMessage(params);
  const { mode: _mode, requestedSchema: _schema, ...rest } = params;
  return { mode: 'form', ...rest, requestedSchema: adapter.jsonSchema };
}

/** Checks the params of a URL elicitation and makes those to send. @see 2026-07-28 client/elicitation#url-mode-elicitation-requests */
export function preparePage(params: JsonObject, { revision }: Context): JsonObject {
  requireMessage(params);
  checkPageUrl(params['url']);
  const { elicitationId, ...rest } = params;
  // If the revision has no elicitation ids, a random id would make the request differ each time that the handler runs.
  return revision.rules.elicitationIds ? { ...rest, elicitationId: elicitationId ?? crypto.randomUUID() } : rest;
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message !== 'string' || message === '')
    throw new AskError('ERR_INVALID_ASK', 'elicitation/create needs a "message", a text that tells the user why you ask');
}

/**
 * Converts the schema of a form to the JSON Schema that is sent: flat fields of a few types. `additionalProperties` is left out, because forms do not
 * support it and never send unknown fields.
 *
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: clients cannot show the field. The message names the field and the alternatives.
 * @throws {AskError} `ERR_INVALID_ASK`: a field asks for a password, a key, a token or a card number. Use URL elicitation for these.
 * @see 2026-07-28 client/elicitation#requested-schema
 */
export function toFormAdapter(requestedSchema: unknown, validator: JsonSchemaValidator | undefined): SchemaAdapter {
  const adapter = toSchemaAdapter(requestedSchema, 'elicitation', 'form', validator);
  const { $schema, type, properties, required } = adapter.jsonSchema;
  if (!isJsonObject(properties)) throw unsupported('must have its fields under "properties"');
  const fields = Object.entries(properties).map(([name, field]) => [name, toWireField(name, isJsonObject(field) ? field : {})] as const);
  const jsonSchema = {
    ...($schema === undefined ? {} : { $schema }),
    type,
    properties: Object.fromEntries(fields),
    ...(required === undefined ? {} : { required }),
  };
  return { jsonSchema, validate: (value) => adapter.validate(value) };
}

function unsupported(problem: string): SchemaUnsupportedError {
  return new SchemaUnsupportedError(`elicitation of "form": requestedSchema ${problem}`);
}

/** Fills in the schema's defaults for form fields that the client left out of its answer. */
export function withDefaults(content: JsonObject, { properties }: JsonObject): JsonObject {
  const missing = Object.entries(isJsonObject(properties) ? properties : {})
    .map(([name, field]) => [name, isJsonObject(field) ? field['default'] : undefined] as const)
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(content, name));
  return missing.length === 0 ? content : { ...content, ...Object.fromEntries(missing) };
}

function toWireField(name: string, field: JsonObject): JsonObject {
  const fault = findFault(field);
  if (fault !== undefined) throw unsupported(`field "${name}" ${fault}`);
  refuseSecret(name, field);
  const { const: only, ...rest } = field;
  const named = typeof only === 'string' && rest['enum'] === undefined ? { ...rest, enum: [only] } : rest;
  return Object.fromEntries(Object.entries(named).filter(([keyword, value]) => KEYWORDS.has(keyword) && !isNoBound(value)));
}

function findFault({ type, format, items }: JsonObject): string | undefined {
  if (type === 'array')
    return isChoice(items) ? undefined : 'is an array, and a form allows arrays only as choices: use an array of an enum of strings';
  if (!SCALARS.includes(type))
    return `is ${type === undefined ? 'without one type' : `of type ${JSON.stringify(type)}`}: a form field must be a string, number, integer, boolean or choice, without nesting`;
  if (type === 'string' && format !== undefined && !FORMATS.includes(format))
    return `has the format ${JSON.stringify(format)}: a form allows only ${FORMATS.join(', ')}`;
  return undefined;
}

/** Tells whether the items of an array field are choices: an enum of strings, or constants with titles. */
function isChoice(items: JsonValue | undefined): boolean {
  if (!isJsonObject(items)) return false;
  const { enum: values, anyOf } = items;
  return (
    (Array.isArray(values) && values.every((value: JsonValue) => typeof value === 'string')) ||
    (Array.isArray(anyOf) && anyOf.every((each: JsonValue) => isJsonObject(each) && typeof each['const'] === 'string'))
  );
}

/** Tells whether a `minimum` or `maximum` is only the limit of safe integers, which schema libraries add to every integer. */
function isNoBound(value: JsonValue | undefined): boolean {
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
}

function refuseSecret(name: string, { title }: JsonObject): void {
  const secret = [name, ...(typeof title === 'string' ? [title] : [])].find(namesSecret);
  if (secret === undefined) return;
  throw new AskError(
    'ERR_INVALID_ASK',
    `The form's field "${secret}" asks for a secret, which forms must not: use a URL elicitation instead ({ mode: 'url', url })`,
  );
}

function namesSecret(text: string): boolean {
  const words = text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.some((word, index) => SECRETS.has(word) || SECRETS.has(word + (words[index + 1] ?? '')));
}

/** Names of query parameters that hold a credential. Anyone who sees such a URL could use the credential. */
const CREDENTIALS: ReadonlySet<string> = new Set('access_token id_token refresh_token api_key apikey password client_secret'.split(' '));

/**
 * Checks the URL of an elicitation.
 *
 * @throws {AskError} `ERR_INVALID_ASK`: the URL is not https (http is allowed for this machine only), or it contains a credential.
 * @see 2026-07-28 client/elicitation#safe-url-handling
 */
function checkPageUrl(url: unknown): void {
  const problem =
    typeof url === 'string' ? (checkUrl(url, { allowLoopback: true, allowPrivate: true }) ?? findCredential(url)) : 'URL is missing';
  if (problem !== undefined) throw new AskError('ERR_INVALID_ASK', `The URL of an elicitation must be safe: ${problem}`);
}

function findCredential(url: string): string | undefined {
  const { searchParams, hash } = new URL(url);
  const names = [...searchParams.keys(), ...new URLSearchParams(hash.slice(1)).keys()];
  const credential = names.find((name) => CREDENTIALS.has(name.toLowerCase()));
  return credential === undefined ? undefined : `URL carries "${credential}": let the page find out itself who the user is`;
}
