/** SipHash-2-4: a keyed hash of 64 bits for short inputs. @see Aumasson and Bernstein, "SipHash: a fast short-input PRF" */

const MASK = 0xffff_ffff_ffff_ffffn;

/** Gives 8 bytes, least significant first. @param key 16 bytes. */
export function sipHash(key: Uint8Array, data: Uint8Array): Uint8Array {
  const k0 = readWord(key, 0);
  const k1 = readWord(key, 8);
  const state: State = [k0 ^ 0x736f_6d65_7073_6575n, k1 ^ 0x646f_7261_6e64_6f6dn, k0 ^ 0x6c79_6765_6e65_7261n, k1 ^ 0x7465_6462_7974_6573n];
  const whole = data.length - (data.length % 8);
  for (let at = 0; at < whole; at += 8) absorb(state, readWord(data, at));
  const tail = new Uint8Array(8);
  tail.set(data.subarray(whole));
  tail[7] = data.length & 255;
  absorb(state, readWord(tail, 0));
  state[2] ^= 0xffn;
  for (let count = 0; count < 4; count += 1) round(state);
  return writeWord(state[0] ^ state[1] ^ state[2] ^ state[3]);
}

type State = [bigint, bigint, bigint, bigint];

function absorb(state: State, word: bigint): void {
  state[3] ^= word;
  round(state);
  round(state);
  state[0] ^= word;
}

function round(state: State): void {
  let [a, b, c, d] = state;
  a = (a + b) & MASK;
  b = rotate(b, 13n) ^ a;
  a = rotate(a, 32n);
  c = (c + d) & MASK;
  d = rotate(d, 16n) ^ c;
  a = (a + d) & MASK;
  d = rotate(d, 21n) ^ a;
  c = (c + b) & MASK;
  b = rotate(b, 17n) ^ c;
  c = rotate(c, 32n);
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

function rotate(word: bigint, by: bigint): bigint {
  return ((word << by) | (word >> (64n - by))) & MASK;
}

function readWord(bytes: Uint8Array, at: number): bigint {
  let word = 0n;
  for (let index = 7; index >= 0; index -= 1) word = (word << 8n) | BigInt(bytes[at + index] as number);
  return word;
}

function writeWord(word: bigint): Uint8Array {
  return Uint8Array.from({ length: 8 }, (_, index) => Number((word >> BigInt(8 * index)) & 255n));
}
