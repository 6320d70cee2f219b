/** Random strings, digests of secrets, and encrypted values that only this proxy can read. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { base64url, EncryptJWT, jwtDecrypt } from 'jose';

/** Creates a random string of 256 bits: a code, token, client id or state. */
export function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * Gives the SHA-256 of a string as base64url, which is also the `S256` method of PKCE.
 *
 * Digests may be compared with `===`: its timing may reveal a part of a digest, but nothing of the string.
 */
export async function digest(text: string): Promise<string> {
  return base64url.encode(await sha256(text));
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** Encrypts values that a browser or a store keeps. A value can be decrypted only for the purpose it was encrypted for. */
export class Sealer {
  readonly #key: Promise<Uint8Array>;
  readonly #clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.#key = sha256(`mortise authorization proxy ${secret}`);
    this.#clock = clock;
  }

  /** Encrypts a value. @param lifeMs How long the value can be decrypted, in milliseconds. @default without limit */
  async seal(purpose: string, value: JsonObject, lifeMs?: number): Promise<string> {
    const jwt = new EncryptJWT({ value }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setAudience(purpose);
    if (lifeMs !== undefined) jwt.setExpirationTime(Math.floor((this.#clock.now() + lifeMs) / 1000));
    return await jwt.encrypt(await this.#key);
  }

  /** Decrypts a value. @returns undefined if it was not encrypted by this proxy for the purpose, or has expired. */
  async open(purpose: string, sealed: string | undefined): Promise<JsonObject | undefined> {
    try {
      const { payload } = await jwtDecrypt<{ readonly value: JsonObject }>(sealed ?? '', await this.#key, {
        audience: purpose,
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        currentDate: new Date(this.#clock.now()),
      });
      return payload.value;
    } catch {
      return undefined;
    }
  }
}
