/** Bearer tokens. @see RFC 6750 */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import { AuthOptionError } from '../errors.ts';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { checkAuthInfo } from '@mortise/protocol/edge';
import { refuse, toChallenge } from './challenge.ts';
import { InvalidTokenError } from './errors.ts';
import type { TokenReader } from './token-reader.ts';

/** The options of `bearerVerifier`. */
export interface BearerVerifierOptions {
  /** How far the issuer's clock may be off, in seconds. @default 0 */
  readonly clockToleranceSeconds?: number | undefined;
  /** Tells whether tokens have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

const RULES: OptionRules<BearerVerifierOptions> = { clockToleranceSeconds: 0, clock: 'no number' };

/**
 * Verifies bearer tokens by a reader of one's own: a table, a session, an API.
 *
 * A token that is bound to a key is refused, since whoever presents it as a bearer token has not shown the key.
 *
 * @param reader Reads a token, or a function that does. What it gives is the caller's identity, so it must check the audience itself.
 * @returns A verifier whose `verify` rejects with `AuthChallengeError` for whatever is not a good token, and with the reason of its signal.
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold.
 * @see RFC 6750
 */
export function bearerVerifier(reader: TokenReader | TokenReader['read'], options: BearerVerifierOptions = {}): TokenVerifier {
  checkOptionRules('bearerVerifier', options, RULES, AuthOptionError);
  const given: Partial<TokenReader> | TokenReader['read'] | undefined = reader;
  const read = typeof given === 'function' ? given : given?.read?.bind(given);
  if (read === undefined)
    throw new AuthOptionError('bearerVerifier needs a function that reads a token, or an object with such a function "read"');
  return {
    verify: async ({ scheme, token }, { signal }) => {
      if (scheme !== 'Bearer') throw refuse(401, 'A bearer token is needed', 'Bearer');
      if (token === undefined) {
        const description = 'The Authorization header holds no token';
        throw refuse(400, description, toChallenge('Bearer', { error: 'invalid_request', error_description: description }));
      }
      try {
        const info = await readValid(() => read(token, { signal }), { ...options, signal });
        if (isBound(info)) throw new InvalidTokenError('The token is bound to a key: present it with proof of that key');
        return info;
      } catch (error) {
        throw toRefusal(error, 'Bearer');
      }
    },
  };
}

/** Reads a token for as long as somebody waits, and looks at its end again: a reader of one's own may have forgotten. */
export async function readValid(
  read: () => Promise<AuthInfo>,
  { clock = systemClock, clockToleranceSeconds = 0, signal }: BearerVerifierOptions & { readonly signal: AbortSignal },
): Promise<AuthInfo> {
  const info = checkAuthInfo(await abortable(read(), signal));
  const { expiresAtMs } = info;
  if (expiresAtMs !== undefined && expiresAtMs + clockToleranceSeconds * 1000 <= clock.now())
    throw new InvalidTokenError('The token has expired');
  return info;
}

/** An invalid token becomes a challenge; what is the server's own fault stays what it is. */
export function toRefusal(error: unknown, scheme: string, params: Readonly<Record<string, string>> = {}): unknown {
  if (!(error instanceof InvalidTokenError)) return error;
  const challenge = toChallenge(scheme, { error: 'invalid_token', error_description: error.message, ...params });
  return refuse(401, error.message, challenge, { cause: error });
}

function isBound({ claims }: AuthInfo): boolean {
  const cnf = claims?.['cnf'];
  return typeof cnf === 'object' && cnf !== null;
}
