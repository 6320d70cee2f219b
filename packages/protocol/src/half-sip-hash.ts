/**
 * HalfSipHash-2-4 with 64 bits: a keyed hash for short inputs that needs no more than 32-bit arithmetic.
 *
 * @see Aumasson and Bernstein, "SipHash: a fast short-input PRF"
 */

type State = [number, number, number, number];

/** Gives 8 bytes, least significant first. @param key 8 bytes. */
export function halfSipHash(key: Uint8Array, data: Uint8Array): Uint8Array {
  const k0 = readWord(key, 0);
  const k1 = readWord(key, 4);
  const state: State = [k0, k1 ^ 0xee, k0 ^ 0x6c79_6765, k1 ^ 0x7465_6462];
  const whole = data.length & ~3;
  for (let at = 0; at < whole; at += 4) absorb(state, readWord(data, at));
  const tail = new Uint8Array(4);
  tail.set(data.subarray(whole));
  tail[3] = data.length;
  absorb(state, readWord(tail, 0));
  state[2] ^= 0xee;
  rounds(state, 4);
  const low = state[1] ^ state[3];
  state[1] ^= 0xdd;
  rounds(state, 4);
  return Uint8Array.from([low, state[1] ^ state[3]].flatMap((word) => [word, word >> 8, word >> 16, word >> 24]));
}

function absorb(state: State, word: number): void {
  state[3] ^= word;
  rounds(state, 2);
  state[0] ^= word;
}

function rounds(state: State, count: number): void {
  let [a, b, c, d] = state;
  for (let round = 0; round < count; round += 1) {
    a = (a + b) | 0;
    b = rotate(b, 5) ^ a;
    a = rotate(a, 16);
    c = (c + d) | 0;
    d = rotate(d, 8) ^ c;
    a = (a + d) | 0;
    d = rotate(d, 7) ^ a;
    c = (c + b) | 0;
    b = rotate(b, 13) ^ c;
    c = rotate(c, 16);
  }
  state.splice(0, 4, a, b, c, d);
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function readWord(bytes: Uint8Array, at: number): number {
  return [0, 1, 2, 3].reduce((word, index) => word | ((bytes[at + index] as number) << (8 * index)), 0);
}
