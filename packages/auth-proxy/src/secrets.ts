/** Random texts, digests to find secrets by without keeping them, and values that only this proxy can read. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { base64url, EncryptJWT, jwtDecrypt } from 'jose';

/** 256 random bits as text: a code, a token, a client id, a state. */
export function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * SHA-256 of a text as base64url: also the `S256` of PKCE.
 *
 * Digests are compared with `===`: how long that takes may show a part of a digest, and nothing of the text behind it.
 */
export async function digest(text: string): Promise<string> {
  return base64url.encode(await sha256(text));
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** Encrypts values that a browser or a store keeps for us. What is sealed for one purpose opens for no other. */
export class Sealer {
  readonly #key: Promise<Uint8Array>;
  readonly #clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.#key = sha256(`mortise authorization proxy ${secret}`);
    this.#clock = clock;
  }

  /** @param lifeMs How long it can be opened; left out for ever. */
  async seal(purpose: string, value: JsonObject, lifeMs?: number): Promise<string> {
    const jwt = new EncryptJWT({ value }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setAudience(purpose);
    if (lifeMs !== undefined) jwt.setExpirationTime(Math.floor((this.#clock.now() + lifeMs) / 1000));
    return await jwt.encrypt(await this.#key);
  }

  /** @returns undefined for anything that this proxy did not seal for the purpose, or that has ended. */
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
