/** Repeatable random numbers: the same seed gives the same numbers on every machine. */

/** Gives the next random number, at least 0 and below 1. */
export type Random = () => number;

/** Makes a generator of repeatable random numbers. @param seed Any integer; only its lowest 32 bits count. */
export function createRandom(seed: number): Random {
  // A linear congruential generator with an xor-shift: good enough to choose faults.
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x45d9f3b) >>> 0;
    mixed = (mixed ^ (mixed >>> 15)) >>> 0;
    return mixed / 2 ** 32;
  };
}
