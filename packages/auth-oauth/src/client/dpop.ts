/** Proofs that a token is used by who was given it. @see RFC 9449 */

import { base64url, exportJWK, type JWK, SignJWT } from 'jose';
import type { CryptoKey, CryptoKeyPair } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthOptionError } from '../errors.ts';
import { listNames } from './to-safe-text.ts';

/** How proofs are made. */
export interface DpopOptions {
  /** The key to prove with. @default a new one that cannot leave this process; the tokens bound to it are then kept in memory alone */
  readonly keyPair?: CryptoKeyPair | undefined;
  /** The algorithm of a new key. @default ES256 */
  readonly algorithm?: 'ES256' | 'ES384' | 'ES512' | 'Ed25519' | 'PS256' | 'RS256' | undefined;
}

/** The key of one client, with the nonces that each origin wants to see. */
export class DpopKey {
  /** Whether tokens that are bound to the key outlive the process. */
  readonly isLasting: boolean;
  readonly #keys: CryptoKeyPair;
  readonly #jwk: JWK;
  readonly #algorithm: string;
  readonly #nonces = new Map<string, string>();
  readonly #handles = new Map<string, oauth.DPoPHandle>();

  constructor(keys: CryptoKeyPair, { jwk, algorithm, isLasting }: { jwk: JWK; algorithm: string; isLasting: boolean }) {
    this.#keys = keys;
    this.#jwk = jwk;
    this.#algorithm = algorithm;
    this.isLasting = isLasting;
  }

  /** @throws {AuthOptionError} The authorization server takes no proof of the key's algorithm. */
  toHandle(as: oauth.AuthorizationServer): oauth.DPoPHandle {
    const taken = as.dpop_signing_alg_values_supported;
    if (Array.isArray(taken) && !taken.includes(this.#algorithm)) {
      throw new AuthOptionError(`The authorization server takes no DPoP proof of ${this.#algorithm}, but ${listNames(taken)}`);
    }
    const handle = this.#handles.get(as.issuer) ?? oauth.DPoP({}, this.#keys);
    this.#handles.set(as.issuer, handle);
    return handle;
  }

  /** A fresh proof for one request with one token. */
  async prove(request: { readonly method: string; readonly url: string }, accessToken: string): Promise<string> {
    const { origin, pathname } = new URL(request.url);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(accessToken));
    const nonce = this.#nonces.get(origin);
    return await new SignJWT({
      jti: crypto.randomUUID(),
      htm: request.method,
      htu: `${origin}${pathname}`,
      ath: base64url.encode(new Uint8Array(digest)),
      ...(nonce !== undefined && { nonce }),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: this.#algorithm, jwk: this.#jwk })
      .setIssuedAt()
      .sign(this.#keys.privateKey);
  }

  /** Remembers what an origin wants to see in proofs. @returns Whether that is new. */
  learnNonce(url: string, nonce: string | undefined): boolean {
    const { origin } = new URL(url);
    if (nonce === undefined || nonce.length > 1024 || this.#nonces.get(origin) === nonce) return false;
    this.#nonces.set(origin, nonce);
    return true;
  }
}

/** @throws {AuthOptionError} The key pair is none that proofs can be signed with. */
export async function createDpopKey({ keyPair, algorithm = 'ES256' }: DpopOptions): Promise<DpopKey> {
  const keys = keyPair ?? (await oauth.generateKeyPair(algorithm));
  if (keys.privateKey.type !== 'private' || !keys.publicKey.extractable) {
    throw new AuthOptionError('dpop.keyPair must be a key pair to sign with, whose public key can be exported');
  }
  const { kty, crv, x, y, n, e } = await exportJWK(keys.publicKey);
  const jwk = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined)) as JWK;
  return new DpopKey(keys, { jwk, algorithm: keyPair ? toAlgorithm(keys.privateKey) : algorithm, isLasting: keyPair !== undefined });
}

/** The JWS algorithm of a key. */
function toAlgorithm({ algorithm }: CryptoKey): string {
  const { name, namedCurve, hash } = algorithm as {
    readonly name: string;
    readonly namedCurve?: string;
    readonly hash?: { readonly name: string };
  };
  const bits = hash?.name.slice('SHA-'.length) ?? '';
  const algorithms: Readonly<Record<string, string>> = {
    Ed25519: 'Ed25519',
    ECDSA: { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' }[namedCurve ?? ''] ?? '',
    'RSA-PSS': `PS${bits}`,
    'RSASSA-PKCS1-v1_5': `RS${bits}`,
  };
  const found = algorithms[name];
  if (found !== undefined && found !== '') return found;
  throw new AuthOptionError(`dpop.keyPair is of the algorithm "${name}", which signs no proofs: use ES256 or Ed25519`);
}
