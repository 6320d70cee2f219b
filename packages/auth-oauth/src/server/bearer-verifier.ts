/** Verification of bearer tokens, and a combination of several verifiers. @see RFC 6750 */

import { type Clock, isMortiseError } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { InvalidTokenError } from '../errors.ts';
import { formatChallenge } from '../www-authenticate.ts';
import { readValid, type TokenReader } from './token-reader.ts';

/**
 * Creates a verifier of bearer tokens with a reader of your own, which looks tokens up in a table, a session or an API.
 *
 * A token that is bound to a key (claim `cnf`) is refused, because a bearer token comes without proof of the key.
 *
 * @param reader A `TokenReader`, or its `read` function. It must check the token's audience itself.
 * @returns A verifier whose `verify` rejects with `AuthChallengeError` for an invalid token, and with the abort reason of its signal.
 * @throws {TypeError} The reader is neither a function nor an object with a `read` function.
 */
export function bearerVerifier(reader: TokenReader | TokenReader['read']): TokenVerifier {
  const given: Partial<TokenReader> | TokenReader['read'] | undefined = reader;
  const read = typeof given === 'function' ? given : given?.read?.bind(given);
  if (read === undefined) throw new TypeError('bearerVerifier: give a function that reads a token, or an object with a "read" function');
  return bearerOf(read, { clock: systemClock, clockToleranceSeconds: 0 });
}

/** Creates a bearer verifier that tolerates a difference of `clockToleranceSeconds` between the clocks of the issuer and this server. */
export function bearerOf(
  read: TokenReader['read'],
  rules: { readonly clock: Clock; readonly clockToleranceSeconds: number },
): TokenVerifier {
  return {
    verify: async ({ scheme, token }, { signal }) => {
      if (scheme !== 'Bearer') throw refuse(401, 'A bearer token is required', 'Bearer');
      if (token === undefined) throw refuse(400, 'The Authorization header has no valid token', 'Bearer', { error: 'invalid_request' });
      try {
        const info = await readValid(() => read(token, { signal }), { ...rules, signal });
        const cnf = info.claims?.['cnf'];
        if (typeof cnf !== 'object' || cnf === null) return info;
        throw new InvalidTokenError('The token is bound to a key: send it with a DPoP proof');
      } catch (error) {
        throw error instanceof InvalidTokenError ? toRefusal(error, 'Bearer') : error;
      }
    },
  };
}

/**
 * Creates a verifier that accepts a token if any of several verifiers accepts it: for example one for an old and one for a new issuer.
 * They are called in order. If all refuse the token, the caller gets the last refusal. Any other error is thrown if none accepts.
 *
 * @throws {TypeError} No verifier is given.
 */
export function anyVerifier(...verifiers: readonly TokenVerifier[]): TokenVerifier {
  if (verifiers.length === 0) throw new TypeError('anyVerifier needs at least one verifier');
  return {
    verify: async (request, options): Promise<AuthInfo> => {
      let fault: unknown;
      let refusal: unknown;
      for (const verifier of verifiers) {
        try {
          return await verifier.verify(request, options);
        } catch (error) {
          options.signal.throwIfAborted();
          if (isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE') refusal = error;
          else fault ??= error;
        }
      }
      throw fault ?? refusal;
    },
  };
}

/**
 * Creates the error for a refused request. The caller sees the message: it must contain no secrets.
 *
 * @param params Parameters of the `WWW-Authenticate` challenge. With `error`, the message is added as `error_description`.
 */
export function refuse(
  status: number,
  message: string,
  scheme: string,
  { error, ...params }: Readonly<Record<string, string>> = {},
  { headers = {}, cause }: { readonly headers?: Readonly<Record<string, string>>; readonly cause?: unknown } = {},
): AuthChallengeError {
  const challenge = formatChallenge(scheme, { error, error_description: error && message, ...params });
  return new AuthChallengeError(message, { status, challenge, headers }, { cause });
}

/** Converts an `InvalidTokenError` to a 401 with a `WWW-Authenticate` challenge. */
export function toRefusal(
  cause: InvalidTokenError,
  scheme: string,
  params: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): AuthChallengeError {
  return refuse(401, cause.message, scheme, { error: cause.error, ...params }, { headers, cause });
}
