/**
 * Removes likely secrets from log messages to clients and from error messages.
 *
 * Finds only secrets with a known format or field name. It limits the harm of a mistake, and does not make it safe to send secrets.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { mapTexts } from './map-texts.ts';

/** The text that replaces a secret. */
export const REDACTED = '[redacted]';

/** Patterns of well-known secrets, such as API keys and tokens. Each pattern matches in linear time. */
const FORMS: readonly string[] = [
  String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?`,
  // Matches only at the start of a run of its characters, so that each run is scanned once.
  String.raw`(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{0,4096}`,
  String.raw`\b(?:Bearer|Basic|DPoP)\s{1,4}[\w~+/.-]{8,8192}={0,2}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  // Keys and tokens with a prefix of their service: npm, Google; GitHub, GitLab, Slack, OpenAI and others, Stripe.
  String.raw`\b(?:npm_\w{36}\b|AIza[\w-]{35})`,
  String.raw`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[sr]k_live_|[sr]k_test_)[\w-]{16,255}`,
  // A password in a URL. The user name stays, to show whose password it was.
  String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,64}:)[^\s/@]{1,256}(?=@)`,
  // `password=...` or `api_key: ...` in text.
  String.raw`(?<=\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token)["']?\s{0,4}[=:]\s{0,4}["']?)[^\s"',;&]{6,1024}`,
];

const SECRETS = /* @__PURE__ */ new RegExp(FORMS.join('|'), 'gi');

/** Names of object members whose values are secrets, in lower case without `_` and `-`. */
const SECRET_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    'accesskey accesstoken apikey apitoken authorization authtoken bearertoken clientsecret cookie credential credentials idtoken passphrase ' +
    'passwd password privatekey pwd refreshtoken secret secretaccesskey secretkey sessiontoken setcookie token webhooksecret'
  ).split(' '),
);

/** Names of object members that hold encoded bytes or protocol keywords. Their values are not searched for secrets. */
const UNTOUCHED: ReadonlySet<string> = new Set(['blob', 'data', 'mimeType', 'role', 'type']);

/** Replaces likely secrets in a text by `[redacted]`. */
export function hideInText(text: string): string {
  return text.replace(SECRETS, REDACTED);
}

/** Tells whether an object member with this name, such as `apiKey`, holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(foldName(name));
}

/** Normalizes the name of an object member: lower case, without `_` and `-`. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/**
 * Replaces likely secrets in a JSON value. A value without secrets is returned unchanged, not copied.
 *
 * @param hide Replaces secrets in one text. @param isSecret Tells which members have secret values.
 */
export function hideSecrets<T extends JsonValue>(value: T, hide = hideInText, isSecret = isSecretName): T {
  return mapTexts(value, (text, name) => {
    if (UNTOUCHED.has(name)) return text;
    if (isSecret(name)) return REDACTED;
    return typeof text === 'string' ? hide(text) : text;
  });
}
