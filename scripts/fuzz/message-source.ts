/** An endless supply of frames: recorded messages, more than half of them changed in ways that leave them valid JSON-RPC. */

import { corruptText, type Json, mutate, mutateParams } from './mutate.ts';
import type { Random } from './random.ts';

export type Message = { readonly [key: string]: Json };

/** One frame to send. `value` is what a reader of JSON gets from it, absent where it gets nothing. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly value?: Json;
  readonly kind: 'valid' | 'malformed' | 'not JSON';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class MessageSource {
  readonly #recorded: readonly Message[];
  readonly #random: Random;
  #lastId = 0;

  constructor(recorded: readonly Message[], random: Random) {
    this.#recorded = recorded;
    this.#random = random;
  }

  next(): Frame {
    const roll = this.#random.next();
    const message = this.#withFreshId(this.#random.pick(this.#recorded));
    if (roll < 0.15) return toFrame(message, 'valid');
    if (roll < 0.6) return toFrame(mutateParams(message, this.#random), 'valid');
    if (roll < 0.88) return this.#broken(mutate(message, this.#random));
    if (roll < 0.92) return this.#broken(this.#batch());
    return this.#corrupted(message);
  }

  #withFreshId(message: Message): Message {
    if (!Object.hasOwn(message, 'id')) return this.#aimed(message);
    if (!this.#random.chance(0.03)) this.#lastId += 1;
    const id = this.#random.chance(0.7) ? this.#lastId : `${this.#random.pick(['', 'a-', '__proto__', '🂡'])}${this.#lastId}`;
    return { ...message, id };
  }

  /** A recorded cancellation or progress names an id of its own session; half of them are aimed at one of this session. */
  #aimed(message: Message): Message {
    const { params } = message;
    if (params === null || typeof params !== 'object' || Array.isArray(params) || !('requestId' in params) || this.#random.chance(0.5))
      return message;
    return { ...message, params: { ...params, requestId: Math.max(0, this.#lastId - this.#random.below(5)) } };
  }

  #batch(): Json {
    const members = Array.from({ length: this.#random.below(4) }, () => this.#withFreshId(this.#random.pick(this.#recorded)));
    return this.#random.chance(0.3) ? mutate([...members], this.#random) : [...members];
  }

  #broken(value: Json): Frame {
    return toFrame(value, 'malformed');
  }

  #corrupted(message: Message): Frame {
    const bytes = corruptText(JSON.stringify(message), this.#random);
    const value = parse(bytes);
    return value === undefined ? { bytes, kind: 'not JSON' } : { bytes, value, kind: 'malformed' };
  }
}

function toFrame(value: Json, kind: Frame['kind']): Frame {
  const text = JSON.stringify(value);
  // What is sent is what the text says: JSON has no -0 and no lone surrogate survives UTF-8.
  return {
    bytes: new TextEncoder().encode(text),
    value: JSON.parse(new TextDecoder().decode(new TextEncoder().encode(text))) as Json,
    kind,
  };
}

function parse(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(decoder.decode(bytes)) as Json;
  } catch {
    return undefined;
  }
}
