/** Writes `WWW-Authenticate`. @see RFC 9110 section 11.6.1; RFC 6750 section 3; RFC 9728 section 5.1 */

import { AuthChallengeError } from '@mortise/protocol';

/** The parameters of a challenge, in the order in which they are written; undefined ones are left out. */
export type ChallengeParams = Readonly<Record<string, string | undefined>>;

/** Writes one challenge. */
export function toChallenge(scheme: string, params: ChallengeParams): string {
  const written = Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quote(value)}`]));
  return written.length === 0 ? scheme : `${scheme} ${written.join(', ')}`;
}

/** What goes with a refusal beside its challenge. */
export interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A refusal that says how to do better. The message is told to the caller: it must hold nothing secret. */
export function refuse(status: number, message: string, challenge: string, { headers, cause }: RefusalOptions = {}): AuthChallengeError {
  return new AuthChallengeError(message, { status, challenge, ...(headers === undefined ? {} : { headers }) }, { cause });
}

/** Adds parameters that a challenge does not name yet. */
export function completeChallenge(challenge: string, params: ChallengeParams): string {
  const missing = Object.entries(params).filter(([name, value]) => value !== undefined && !names(challenge, name));
  const more = missing.map(([name, value]) => `${name}=${quote(value ?? '')}`).join(', ');
  if (more === '') return challenge;
  return `${challenge}${challenge.includes(' ') ? ', ' : ' '}${more}`;
}

/** Outside of quoted strings, so that a value cannot pass for a parameter. */
function names(challenge: string, name: string): boolean {
  const bare = challenge.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return bare.split(/[\s,]+/).some((part) => part.toLowerCase().startsWith(`${name}=`));
}

/** OAuth's values hold printable ASCII without quotes and backslashes. @see RFC 6750 section 3 */
function quote(value: string): string {
  return `"${value.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'")}"`;
}
