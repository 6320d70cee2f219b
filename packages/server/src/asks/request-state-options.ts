/** How request states are sealed and bounded. */

import type { ReplayStore, StateStore } from '@mortise/protocol/contracts';
import { checkType } from '../check-types.ts';
import { RegistrationError } from '../errors.ts';

/** What travels between the rounds of a modern request that asks back, and how it is kept safe. */
export interface RequestStateOptions {
  /**
   * Keys of 32 bytes. The first one seals, every one opens, so that a new key can be put in front of an old one. Servers that
   * share their keys go on with each other's rounds.
   *
   * @default a random key of this server, so that only this process can go on
   */
  readonly keys?: readonly Uint8Array[] | undefined;
  /** How long the client has for its answer, in milliseconds: a state that is older is refused. @default 600_000 (10 minutes) */
  readonly ttlMs?: number | undefined;
  /** How long a state that travels may be, in characters. A longer one goes to `store`, or is an error. @default 262_144 (256 KiB) */
  readonly maxStateBytes?: number | undefined;
  /** Holds states that are too long to travel; only a sealed reference to them then does. @default none: they are refused */
  readonly store?: StateStore | undefined;
  /**
   * Lets each state be used once: the second request with it is refused (-32602). Without one a client that sends a state
   * again runs the handler again from there, and steps of `ctx.once` that came after it with it, under the same idempotency keys.
   *
   * @default none
   */
  readonly replay?: ReplayStore | undefined;
  /** How many times one request may ask back. @default 10 */
  readonly maxRounds?: number | undefined;
}

export const KEY_BYTES = 32;

/** @throws {RegistrationError} `ERR_REGISTRATION`: something of another type, or a key that is not 32 bytes long. */
export function checkRequestStateOptions({ keys = [] }: RequestStateOptions = {}): void {
  checkType('requestState.keys', keys, 'list');
  for (const key of keys) checkType('requestState.keys: each key', key, 'bytes');
  const bad = keys.find((key) => key.length !== KEY_BYTES);
  if (!bad) return;
  throw new RegistrationError(
    `requestState.keys: a key has ${KEY_BYTES} bytes, this one has ${bad.length}: make it with crypto.getRandomValues(new Uint8Array(${KEY_BYTES}))`,
  );
}
