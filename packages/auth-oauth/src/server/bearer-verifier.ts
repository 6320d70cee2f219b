/** Bearer tokens, and several verifiers as one. @see RFC 6750 */

import { type Clock, isMortiseError } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { InvalidTokenError } from '../errors.ts';
import { formatChallenge } from '../www-authenticate.ts';
import { readValid, type TokenReader } from './token-reader.ts';

/**
 * Verifies bearer tokens by a reader of your own: a table, a session, an API.
 *
 * A token that is bound to a key is refused, since whoever presents it as a bearer token has not shown the key.
 *
 * @param reader Reads a token, or a function that does. Its result is the caller's identity, so it must check the audience itself.
 * @returns A verifier whose `verify` rejects with `AuthChallengeError` for anything but a good token, and with the reason of its signal.
 * @throws {TypeError} The reader is none.
 */
export function bearerVerifier(reader: TokenReader | TokenReader['read']): TokenVerifier {
  const given: Partial<TokenReader> | TokenReader['read'] | undefined = reader;
  const read = typeof given === 'function' ? given : given?.read?.bind(given);
  if (read === undefined)
    throw new TypeError('bearerVerifier needs a function that reads a token, or an object with such a function "read"');
  return bearerOf(read, { clock: systemClock, clockToleranceSeconds: 0 });
}

/** The verifier of a reader that allows its issuer's clock to be off. */
export function bearerOf(
  read: TokenReader['read'],
  rules: { readonly clock: Clock; readonly clockToleranceSeconds: number },
): TokenVerifier {
  return {
    verify: async ({ scheme, token }, { signal }) => {
      if (scheme !== 'Bearer') throw refuse(401, 'A bearer token is needed', 'Bearer');
      if (token === undefined) throw refuse(400, 'The Authorization header holds no token', 'Bearer', { error: 'invalid_request' });
      try {
        const info = await readValid(() => read(token, { signal }), { ...rules, signal });
        const cnf = info.claims?.['cnf'];
        if (typeof cnf !== 'object' || cnf === null) return info;
        throw new InvalidTokenError('The token is bound to a key: present it with proof of that key');
      } catch (error) {
        throw error instanceof InvalidTokenError ? toRefusal(error, 'Bearer') : error;
      }
    },
  };
}

/**
 * Accepts what any of several verifiers accepts, asked in order: the old issuer and the new, people's tokens and workloads'. A token that
 * none accepts gets the refusal of the last, unless one had a fault of its own: then it is not known whether the token is good.
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
 * A refusal that says how to do better. The caller reads the message: it must hold nothing secret.
 *
 * @param params Of the challenge; with an `error` the message goes with it.
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

/** The refusal of an invalid token or proof. */
export function toRefusal(
  cause: InvalidTokenError,
  scheme: string,
  params: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): AuthChallengeError {
  return refuse(401, cause.message, scheme, { error: cause.error, ...params }, { headers, cause });
}
