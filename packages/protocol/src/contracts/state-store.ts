/**
 * Holds request states that are too large to travel, and remembers which were used.
 *
 * P1  `claim` is atomic over all machines: of all callers with one id exactly one gets true until `expiresAtMs`.
 * P2  What is past its expiry is not found and may be claimed again.
 * P3  `get` gives what the last finished `put` of an id wrote, until its expiry or `delete`.
 */

/** Holds the overflow of sealed request states. */
export interface StateStore {
  put(id: string, value: string, expiresAtMs: number): Promise<void>;
  get(id: string): Promise<string | undefined>;
  delete(id: string): Promise<void>;
}

/** Lets a thing be used once. */
export interface ReplayStore {
  /** @returns true for the first caller, false for every other until the expiry. */
  claim(id: string, expiresAtMs: number): Promise<boolean>;
}
