/** The address of a page that the user is asked to open. */

import { checkUrl } from '@mortise/protocol/edge';
import { InvalidAskError } from '../errors.ts';

/** Parameters that would hand on a credential, or open the page for whoever has the address. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'access_token',
  'id_token',
  'refresh_token',
  'api_key',
  'apikey',
  'password',
  'client_secret',
]);

/**
 * @throws {InvalidAskError} It is not https (http is good for this machine alone), or carries a credential.
 * @see 2026-07-28 client/elicitation#safe-url-handling
 */
export function checkPageUrl(url: unknown): void {
  const problem =
    typeof url === 'string' ? (checkUrl(url, { allowLoopback: true, allowPrivate: true }) ?? findCredential(url)) : 'URL is missing';
  if (problem !== undefined) throw new InvalidAskError(`A page to open must have a safe address: ${problem}`);
}

function findCredential(url: string): string | undefined {
  const { searchParams, hash } = new URL(url);
  const names = [...searchParams.keys(), ...new URLSearchParams(hash.slice(1)).keys()];
  const credential = names.find((name) => CREDENTIALS.has(name.toLowerCase()));
  return credential === undefined ? undefined : `URL carries "${credential}": let the page find out itself who the user is`;
}
