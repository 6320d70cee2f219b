/** DPoP proofs: they prove that the sender of a token has the key that the token is bound to. @see RFC 9449 */

import type { CryptoKeyPair } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { listNames } from '../safe-fetch.ts';

/** Creates DPoP proofs with the key of one client, and stores the current nonce of each origin. */
export class DpopKey {
  readonly #handle: oauth.DPoPHandle;
  #accepted: unknown;

  constructor(keys: CryptoKeyPair) {
    this.#handle = oauth.DPoP({}, keys, {
      [oauth.modifyAssertion]: ({ alg }) => {
        if (!Array.isArray(this.#accepted) || this.#accepted.includes(alg)) return;
        throw new AuthError(
          'ERR_CLIENT_MISMATCH',
          `The authorization server accepts DPoP proofs signed with ${listNames(this.#accepted)}, not ${String(alg)}: give such a key pair in "dpop"`,
        );
      },
    });
  }

  /** Gives the `DPoP` option of `oauth4webapi`. Requests fail with `ERR_CLIENT_MISMATCH` if `as` does not accept the key's algorithm. */
  toHandle(as: oauth.AuthorizationServer): oauth.DPoPHandle {
    this.#accepted = as.dpop_signing_alg_values_supported;
    return this.#handle;
  }

  /** Creates the DPoP proof for one request that carries an access token. */
  async prove({ method, url }: { readonly method: string; readonly url: string }, accessToken: string): Promise<string> {
    return (await this.#pretend(method, url, accessToken, {}))['dpop'] ?? '';
  }

  /** Stores the nonce that the origin of `url` requires in DPoP proofs. */
  async learnNonce(url: string, nonce: string): Promise<void> {
    await this.#pretend('GET', url, 'none', { 'dpop-nonce': nonce });
  }

  /** Makes `oauth4webapi` create a proof or read a nonce, by a request that is not sent to the network. @returns The request's headers. */
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
 * Creates a `DpopKey`.
 *
 * @param given The program's key pair; `true` creates one that cannot leave this process.
 * @throws {TypeError} The key pair cannot sign, or its public key is not extractable.
 */
export async function createDpopKey(given: CryptoKeyPair | true): Promise<DpopKey> {
  try {
    return new DpopKey(given === true ? await oauth.generateKeyPair('ES256') : given);
  } catch (cause) {
    throw new TypeError('The option "dpop" must be a key pair for signing, such as ES256, with an extractable public key', { cause });
  }
}
