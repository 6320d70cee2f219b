/** Proofs that a token is used by the client that it was issued to. @see RFC 9449 */

import type { CryptoKeyPair } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { listNames } from '../safe-fetch.ts';

/** The key of one client, with the nonces that each origin wants to see. */
export class DpopKey {
  readonly #handle: oauth.DPoPHandle;
  #accepted: unknown;

  constructor(keys: CryptoKeyPair) {
    this.#handle = oauth.DPoP({}, keys, {
      [oauth.modifyAssertion]: ({ alg }) => {
        if (!Array.isArray(this.#accepted) || this.#accepted.includes(alg)) return;
        throw new AuthError(
          'ERR_CLIENT_MISMATCH',
          `The authorization server accepts no DPoP proof of ${String(alg)}, but ${listNames(this.#accepted)}: give "dpop" such a key pair`,
        );
      },
    });
  }

  /** For requests to an authorization server. They fail with `ERR_CLIENT_MISMATCH` if it accepts no proof of the key's algorithm. */
  toHandle(as: oauth.AuthorizationServer): oauth.DPoPHandle {
    this.#accepted = as.dpop_signing_alg_values_supported;
    return this.#handle;
  }

  /** A fresh proof for one request with one token. */
  async prove({ method, url }: { readonly method: string; readonly url: string }, accessToken: string): Promise<string> {
    return (await this.#pretend(method, url, accessToken, {}))['dpop'] ?? '';
  }

  /** Remembers what an origin wants to see in proofs. */
  async learnNonce(url: string, nonce: string): Promise<void> {
    await this.#pretend('GET', url, 'none', { 'dpop-nonce': nonce });
  }

  /** The library makes proofs and reads nonces as it sends a request: this one does not leave. @returns The headers that it would have. */
  async #pretend(
    method: string,
    url: string,
    accessToken: string,
    answer: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    let sent: Readonly<Record<string, string>> = {};
    await oauth.protectedResourceRequest(accessToken, method, new URL(url), undefined, undefined, {
      DPoP: this.#handle,
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: async (_url, { headers }) => {
        sent = headers;
        return new Response(null, { headers: answer });
      },
    });
    return sent;
  }
}

/**
 * @param given The program's own key pair; `true` for a new one that cannot leave this process.
 * @throws {TypeError} Proofs cannot be signed with the key pair, or its public half cannot be shown.
 */
export async function createDpopKey(given: CryptoKeyPair | true): Promise<DpopKey> {
  try {
    return new DpopKey(given === true ? await oauth.generateKeyPair('ES256') : given);
  } catch (cause) {
    throw new TypeError('"dpop" must be a key pair to sign with whose public key is extractable, such as ES256', { cause });
  }
}
