/** Writes `WWW-Authenticate`. @see RFC 9110 section 11.6.1; RFC 6750 section 3; RFC 9728 section 5.1 */

import { AuthChallengeError } from '@mortise/protocol';
import { formatChallenge, parseChallenges } from '../www-authenticate.ts';

/** The parameters of a challenge, in the order in which they are written; undefined ones are left out. */
export type ChallengeParams = Readonly<Record<string, string | undefined>>;

/** Writes one challenge. OAuth's values hold no quotes and no backslashes. @see RFC 6750 section 3 */
export function toChallenge(scheme: string, params: ChallengeParams): string {
  const plain = Object.entries(params).map(([name, value]) => [name, value?.replace(/["\\]/g, "'")] as const);
  return formatChallenge(scheme, Object.fromEntries(plain));
}

/** What goes with a refusal beside its challenge. */
export interface RefusalOptions {
  /** More headers of the answer. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What was wrong, for those who read the log. @default none */
  readonly cause?: unknown;
}

/** A refusal that says how to do better. The message is told to the caller: it must hold nothing secret. */
export function refuse(status: number, message: string, challenge: string, { headers, cause }: RefusalOptions = {}): AuthChallengeError {
  return new AuthChallengeError(message, { status, challenge, ...(headers === undefined ? {} : { headers }) }, { cause });
}

/** Adds parameters that a challenge, the last where there are several, does not name yet. */
export function completeChallenge(challenge: string, params: ChallengeParams): string {
  const last = parseChallenges(challenge).at(-1);
  const missing = Object.entries(params).filter(([name, value]) => value !== undefined && last?.params.has(name) !== true);
  if (missing.length === 0) return challenge;
  return `${challenge}${last === undefined || last.params.size === 0 ? '' : ','}${toChallenge('', Object.fromEntries(missing))}`;
}
