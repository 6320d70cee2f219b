/** An endless supply of frames: recorded messages, more than half of them changed in ways that leave them valid JSON-RPC. */

import { corruptText, type Json, type JsonObject, mutate, mutateParams, type Random } from './mutate.ts';

/** One frame to send. `value` is what a reader of JSON gets from it, absent where it gets nothing. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly value?: Json;
  readonly kind: 'valid' | 'malformed' | 'notJson';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class MessageSource {
  readonly #recorded: readonly JsonObject[];
  readonly #random: Random;
  #lastId = 0;

  constructor(recorded: readonly JsonObject[], random: Random) {
    this.#recorded = recorded;
    this.#random = random;
  }

  next(): Frame {
    const random = this.#random;
    const roll = random.next();
    const message = this.#pick();
    if (roll < 0.15) return toFrame(message);
    if (roll < 0.6) return toFrame(mutateParams(message, random));
    if (roll < 0.88) return toFrame(mutate(message, random), 'malformed');
    if (roll < 0.92) {
      const batch = Array.from({ length: random.below(4) }, () => this.#pick());
      return toFrame(random.chance(0.3) ? mutate(batch, random) : batch, 'malformed');
    }
    const bytes = corruptText(JSON.stringify(message), random);
    try {
      return { bytes, value: JSON.parse(decoder.decode(bytes)) as Json, kind: 'malformed' };
    } catch {
      return { bytes, kind: 'notJson' };
    }
  }

  /** A recorded message, with a fresh id if it is a request. */
  #pick(): JsonObject {
    const random = this.#random;
    const message = random.pick(this.#recorded);
    if (!Object.hasOwn(message, 'id')) return this.#aim(message);
    if (!random.chance(0.03)) this.#lastId += 1;
    const id = random.chance(0.7) ? this.#lastId : `${random.pick(['', 'a-', '__proto__', '🂡'])}${this.#lastId}`;
    return { ...message, id };
  }

  /** A recorded cancellation names an id of its own session; half of them are aimed at one of this session. */
  #aim(message: JsonObject): JsonObject {
    if (message['method'] !== 'notifications/cancelled' || this.#random.chance(0.5)) return message;
    return { ...message, params: { ...(message['params'] as JsonObject), requestId: Math.max(0, this.#lastId - this.#random.below(5)) } };
  }
}

/** What is sent is what the text says: JSON has no -0, and no lone surrogate survives UTF-8. */
export function toFrame(given: Json, kind: Frame['kind'] = 'valid'): Frame {
  const bytes = new TextEncoder().encode(JSON.stringify(given));
  return { bytes, value: JSON.parse(new TextDecoder().decode(bytes)) as Json, kind };
}
