/** Finds what looks like a secret in text and data, and puts a mark in its place. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/**
 * Forms by which secrets are known, each linear to match. Whatever has no form of its own (a plain password) is found by the
 * name of its field only.
 */
const SECRET_FORMS: readonly string[] = [
  String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?`,
  // It begins a run of its characters, so that each run is looked at once.
  String.raw`(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{0,4096}`,
  String.raw`\b(?:Bearer|Basic|DPoP)\s{1,4}[\w~+/.-]{8,8192}={0,2}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  String.raw`\bgh[pousr]_\w{30,255}\b`,
  String.raw`\bgithub_pat_\w{22,255}\b`,
  String.raw`\bglpat-[\w-]{20,64}`,
  String.raw`\bxox[abeoprs]-[\w-]{10,255}`,
  String.raw`\bsk-[\w-]{20,255}`,
  String.raw`\b(?:sk|rk)_(?:live|test)_\w{16,255}`,
  String.raw`\bAIza[\w-]{35}`,
  String.raw`\bnpm_\w{36}\b`,
  // A password in a URL: the name stays, so that the reader sees whose it was.
  String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,64}:)[^\s/@]{1,256}(?=@)`,
  // `password=...`, `api_key: ...` in text.
  String.raw`(?<=\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token)["']?\s{0,4}[=:]\s{0,4}["']?)[^\s"',;&]{6,1024}`,
];

/** Names of fields whose values are secrets, without case, `_` and `-`. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'accesskey',
  'accesstoken',
  'apikey',
  'apitoken',
  'authorization',
  'authtoken',
  'bearertoken',
  'clientsecret',
  'cookie',
  'credential',
  'credentials',
  'idtoken',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'pwd',
  'refreshtoken',
  'secret',
  'secretaccesskey',
  'secretkey',
  'sessiontoken',
  'setcookie',
  'token',
  'webhooksecret',
]);

/** Fields that hold encoded bytes or the protocol's own words: nothing is looked for in them. */
const UNTOUCHED: ReadonlySet<string> = new Set(['blob', 'data', 'mimeType', 'role', 'type']);

/** Deeper than this nothing is looked at; the protocol's own bound on nesting is lower. */
const MAX_DEPTH = 200;

/** How deep JSON inside a text is looked at, where JSON inside that is no longer. */
const JSON_DEPTH = 64;
/** A longer text is looked at as text only. */
const MAX_JSON_CHARACTERS = 1_048_576;

/** What counts as a secret. */
export interface RedactOptions {
  /** Further forms of secrets. Must be linear to match: they run over everything that is sent. @default none */
  readonly patterns?: readonly RegExp[] | undefined;
  /** Further names of fields whose values are secrets; case, `_` and `-` make no difference. @default none */
  readonly names?: readonly string[] | undefined;
  /** What stands in a secret's place. @default '[redacted]' */
  readonly replacement?: string | undefined;
}

/** Takes secrets out of data. A value without any is given back as it is, not copied. */
export type Redactor = <T extends JsonValue>(value: T) => T;

/**
 * Makes a function that takes out what looks like a secret: well-known forms of keys and tokens, passwords in URLs, values of
 * fields with telling names.
 *
 * Finds only what is known by its form or name: it limits the harm of a mistake and is no licence to send secrets.
 */
export function createRedactor(options: RedactOptions = {}): Redactor {
  const { replacement = '[redacted]' } = options;
  const forms = [new RegExp(SECRET_FORMS.join('|'), 'gi'), ...(options.patterns ?? []).map(toGlobal)];
  const names = new Set([...SECRET_NAMES, ...(options.names ?? []).map(foldName)]);
  const hide = (text: string): string => forms.reduce((rest, form) => rest.replace(form, replacement), text);
  const visit = (value: JsonValue, depth: number): JsonValue => {
    if (typeof value === 'string')
      return hide(depth < MAX_DEPTH - JSON_DEPTH ? hideInJson(value, (data) => visit(data, MAX_DEPTH - JSON_DEPTH)) : value);
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    return Array.isArray(value) ? visitList(value, depth) : visitObject(value as JsonObject, depth);
  };
  const visitList = (list: readonly JsonValue[], depth: number): readonly JsonValue[] => {
    const copy = list.map((item) => visit(item, depth + 1));
    return copy.every((item, i) => item === list[i]) ? list : copy;
  };
  const visitObject = (object: JsonObject, depth: number): JsonObject => {
    let copy: Record<string, JsonValue | undefined> | undefined;
    for (const [name, value] of Object.entries(object)) {
      if (value === undefined || (UNTOUCHED.has(name) && typeof value === 'string')) continue;
      const isNamed = (typeof value === 'string' || typeof value === 'number') && names.has(foldName(name));
      const visited = isNamed ? replacement : visit(value, depth + 1);
      if (visited !== value) (copy ??= { ...object })[name] = visited;
    }
    return copy ?? object;
  };
  // Every branch gives back a value of the kind that it was given, which the compiler cannot follow.
  return <T extends JsonValue>(value: T): T => visit(value, 0) as T;
}

/**
 * Structured content is often repeated as JSON text: there the fields' names tell as much as in the data, so the text is read,
 * cleaned and written again. Text that holds nothing to hide stays as it is, to the letter.
 */
function hideInJson(text: string, clean: (data: JsonValue) => JsonValue): string {
  if (!/^\s{0,8}[[{]/.test(text) || text.length > MAX_JSON_CHARACTERS) return text;
  let data: JsonValue;
  try {
    data = JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
  const cleaned = clean(data);
  return cleaned === data ? text : JSON.stringify(cleaned, undefined, text.includes('\n') ? 2 : undefined);
}

function toGlobal(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
