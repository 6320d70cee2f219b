/** Plain data that goes out to a browser and must come back unchanged and in time. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { base64url } from 'jose';
import { isSameText } from '../digest.ts';
import { Signer } from '../signer.ts';

export class SignedText {
  readonly #signer: Signer;
  readonly #clock: Clock;

  constructor(secret: string, purpose: string, clock: Clock) {
    this.#signer = new Signer(secret, purpose);
    this.#clock = clock;
  }

  async write(value: JsonObject, lifeMs: number): Promise<string> {
    const text = base64url.encode(JSON.stringify({ value, expiresAtMs: this.#clock.now() + lifeMs }));
    return `${text}.${await this.#signer.sign(text)}`;
  }

  /** @returns undefined for what this did not write, or wrote too long ago. */
  async read(signed: string | undefined): Promise<JsonObject | undefined> {
    const [text = '', signature = ''] = signed?.split('.') ?? [];
    if (text === '' || !isSameText(signature, await this.#signer.sign(text))) return undefined;
    const { value, expiresAtMs } = JSON.parse(new TextDecoder().decode(base64url.decode(text))) as {
      readonly value: JsonObject;
      readonly expiresAtMs: number;
    };
    return expiresAtMs > this.#clock.now() ? value : undefined;
  }
}
