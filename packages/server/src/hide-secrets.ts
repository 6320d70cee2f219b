/**
 * Takes what looks like a secret out of text and data that may hold one by mistake: log messages to clients, and messages of errors.
 *
 * Finds only what is known by its form or the name of its field: it limits the harm of a mistake and is no licence to send secrets.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { mapTexts } from './map-texts.ts';

/** What stands in a secret's place. */
export const REDACTED = '[redacted]';

/** Forms by which secrets are known, each linear to match. */
const FORMS: readonly string[] = [
  String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?`,
  // It begins a run of its characters, so that each run is looked at once.
  String.raw`(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{0,4096}`,
  String.raw`\b(?:Bearer|Basic|DPoP)\s{1,4}[\w~+/.-]{8,8192}={0,2}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  // Keys and tokens with the prefix of the service that issues them: npm, Google; GitHub, GitLab, Slack, OpenAI and others, Stripe.
  String.raw`\b(?:npm_\w{36}\b|AIza[\w-]{35})`,
  String.raw`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[sr]k_live_|[sr]k_test_)[\w-]{16,255}`,
  // A password in a URL: the name stays, so that the reader sees whose it was.
  String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,64}:)[^\s/@]{1,256}(?=@)`,
  // `password=...`, `api_key: ...` in text.
  String.raw`(?<=\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token)["']?\s{0,4}[=:]\s{0,4}["']?)[^\s"',;&]{6,1024}`,
];

const SECRETS = /* @__PURE__ */ new RegExp(FORMS.join('|'), 'gi');

/** Names of members whose values are secrets, without case, `_` and `-`. */
const SECRET_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    'accesskey accesstoken apikey apitoken authorization authtoken bearertoken clientsecret cookie credential credentials idtoken passphrase ' +
    'passwd password privatekey pwd refreshtoken secret secretaccesskey secretkey sessiontoken setcookie token webhooksecret'
  ).split(' '),
);

/** Members that hold encoded bytes or the protocol's own words: nothing is looked for in them. */
const UNTOUCHED: ReadonlySet<string> = new Set(['blob', 'data', 'mimeType', 'role', 'type']);

/** Takes out what has the form of a secret. */
export function hideInText(text: string): string {
  return text.replace(SECRETS, REDACTED);
}

/** Whether a member of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(foldName(name));
}

/** A name without what makes no difference: case, `_` and `-`. */
export function foldName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/**
 * Takes secrets out of data. A value without any is given back as it is, not copied.
 *
 * @param hide What is done to a text. @param isSecret Which members' values are secrets.
 */
export function hideSecrets<T extends JsonValue>(value: T, hide = hideInText, isSecret = isSecretName): T {
  return mapTexts(value, (text, name) => {
    if (UNTOUCHED.has(name)) return text;
    if (isSecret(name)) return REDACTED;
    return typeof text === 'string' ? hide(text) : text;
  });
}
