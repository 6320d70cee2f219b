/** Parses and writes `WWW-Authenticate` headers. @see RFC 9110 section 11.6.1; RFC 6750 section 3 */

/** One challenge of a `WWW-Authenticate` header: a scheme and its parameters. */
export interface AuthChallenge {
  /** The scheme in lower case, such as `bearer` or `dpop`. */
  readonly scheme: string;
  /** The parameters by lower-case name. */
  readonly params: ReadonlyMap<string, string>;
}

/** The maximum length of a `WWW-Authenticate` header in characters. Longer headers are ignored. */
const MAX_HEADER_LENGTH = 16_384;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TOKEN = new RegExp(token, 'y');
const PARAM = new RegExp(`(${token})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const SEPARATORS = /[ \t,]*/y;
const SPACES = /[ \t]+/y;

/**
 * Parses the challenges of a `WWW-Authenticate` header. Several headers may be joined by commas.
 *
 * Parameters may be quoted or not. If a name occurs twice, the first value counts. Parsing stops at the first syntax error and keeps
 * what came before.
 */
export function parseChallenges(header: string | undefined): readonly AuthChallenge[] {
  if (header === undefined || header.length > MAX_HEADER_LENGTH) return [];
  const challenges: { readonly scheme: string; readonly params: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match === null) return undefined;
    at = pattern.lastIndex;
    return match;
  };
  for (take(SEPARATORS); at < header.length; take(SEPARATORS)) {
    const current = challenges.at(-1);
    const param = current && take(PARAM);
    if (param) {
      const [, name = '', quoted, plain = ''] = param;
      const key = name.toLowerCase();
      if (!current.params.has(key)) current.params.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain);
      continue;
    }
    const scheme = take(TOKEN);
    if (!scheme) break;
    challenges.push({ scheme: scheme[0].toLowerCase(), params: new Map() });
    if (take(SPACES)) {
      PARAM.lastIndex = at;
      if (!PARAM.test(header)) take(TOKEN68);
    }
  }
  return challenges;
}

/**
 * Writes one challenge. Parameters that are undefined are left out. Quotes and backslashes become `'` (OAuth does not allow them in these
 * values); characters that are not allowed in headers become `?`.
 */
export function formatChallenge(scheme: string, params: Readonly<Record<string, string | undefined>>): string {
  const parts = Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${toQuotable(value)}"`]));
  return [scheme, parts.join(', ')].filter((part) => part !== '').join(' ');
}

/** Adds parameters to a challenge, except those that it already has. Of several challenges, the last gets them. */
export function completeChallenge(challenge: string, params: Readonly<Record<string, string | undefined>>): string {
  const last = parseChallenges(challenge).at(-1)?.params ?? new Map<string, string>();
  const missing = formatChallenge('', Object.fromEntries(Object.entries(params).filter(([name]) => !last.has(name))));
  if (missing === '') return challenge;
  return `${challenge}${last.size === 0 ? '' : ','} ${missing}`;
}

function toQuotable(value: string): string {
  return value.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
}
