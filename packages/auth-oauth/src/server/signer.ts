/** Signs and seals texts with keys drawn from one secret. What was made for one purpose is good for no other. */

import { base64url, type CryptoKey } from 'jose';
import { AuthOptionError } from '../errors.ts';

const MIN_SECRET_LENGTH = 32;
const IV_BYTES = 12;

interface KeyAlgorithm {
  readonly name: string;
  readonly hash?: string;
  readonly length: number;
}

export class Signer {
  readonly #secret: Uint8Array<ArrayBuffer>;
  readonly #purpose: string;
  #signKey: Promise<CryptoKey> | undefined;
  #sealKey: Promise<CryptoKey> | undefined;

  /** @throws {AuthOptionError} `ERR_AUTH_OPTION`: a secret that is too short. */
  constructor(secret: string, purpose: string) {
    if (secret.length < MIN_SECRET_LENGTH)
      throw new AuthOptionError(`The option "secret" must have at least ${MIN_SECRET_LENGTH} random characters`);
    this.#secret = new TextEncoder().encode(secret);
    this.#purpose = purpose;
  }

  /** An HMAC, as base64url. */
  async sign(text: string): Promise<string> {
    this.#signKey ??= this.#derive('sign', { name: 'HMAC', hash: 'SHA-256', length: 256 }, ['sign']);
    return base64url.encode(new Uint8Array(await crypto.subtle.sign('HMAC', await this.#signKey, encode(text))));
  }

  /** Encrypts a text, so that only `open` with the same secret, purpose and context gives it back. */
  async seal(text: string, context: string): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: encode(context) }, await this.#aes(), encode(text));
    return `${base64url.encode(iv)}.${base64url.encode(new Uint8Array(sealed))}`;
  }

  /** @returns undefined for what this did not seal, or for another context. */
  async open(sealed: string, context: string): Promise<string | undefined> {
    try {
      const [iv = '', data = ''] = sealed.split('.').map((part) => new Uint8Array(base64url.decode(part)));
      if (typeof iv === 'string' || typeof data === 'string') return undefined;
      const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: encode(context) }, await this.#aes(), data);
      return new TextDecoder().decode(text);
    } catch {
      return undefined;
    }
  }

  #aes(): Promise<CryptoKey> {
    this.#sealKey ??= this.#derive('seal', { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt']);
    return this.#sealKey;
  }

  async #derive(use: string, algorithm: KeyAlgorithm, usages: readonly ('sign' | 'encrypt' | 'decrypt')[]): Promise<CryptoKey> {
    const base = await crypto.subtle.importKey('raw', this.#secret, 'HKDF', false, ['deriveKey']);
    const from = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encode(`mortise ${this.#purpose} ${use}`) };
    return crypto.subtle.deriveKey(from, base, algorithm, false, [...usages]);
  }
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
