/** Whose tokens are taken, and issued for whom: what every verifier that asks an issuer must be told. */

import { AuthOptionError } from '../errors.ts';

/** @throws {AuthOptionError} The issuer is no URL, or there is no audience: tokens that were issued for others would be as good. */
export function checkIssuer({ issuer, audience }: { readonly issuer: string; readonly audience: string | readonly string[] }): void {
  if (!URL.canParse(issuer)) throw new AuthOptionError(`The option "issuer" must be a URL, got "${issuer}"`);
  const given: string | readonly string[] | undefined = audience;
  if (given === undefined || given.length === 0)
    throw new AuthOptionError(
      'The option "audience" is missing or empty: give the URL that tokens are issued for, which is this server\'s',
    );
}
