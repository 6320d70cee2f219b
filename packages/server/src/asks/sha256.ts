/**
 * SHA-256 (FIPS 180-4) without waiting. WebCrypto's digest answers some turns of the event loop later, and in these turns questions
 * that a handler asks at once would part.
 */

const WORD = 2 ** 32;
const BLOCK_BYTES = 64;

/** The first 32 bits of the fractions of the square roots (8) and the cube roots (64) of the first primes. */
const PRIMES = firstPrimes(64);
const START: readonly number[] = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUND: Uint32Array = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));

/** The digest of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const hash = Uint32Array.from(START);
  const words = new Uint32Array(64);
  const view = new DataView(padded(bytes).buffer);
  for (let offset = 0; offset < view.byteLength; offset += BLOCK_BYTES) mixBlock(view, offset, hash, words);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  hash.forEach((word, index) => out.setUint32(4 * index, word));
  return digest;
}

/** A one bit, zeros, and the length in bits as the last 64. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const all = new Uint8Array(length);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setUint32(length - 8, Math.floor((bytes.length * 8) / WORD));
  view.setUint32(length - 4, (bytes.length * 8) % WORD);
  return all;
}

function mixBlock(view: DataView, offset: number, hash: Uint32Array, words: Uint32Array): void {
  for (let t = 0; t < 16; t++) words[t] = view.getUint32(offset + 4 * t);
  for (let t = 16; t < 64; t++) words[t] = at(words, t - 16) + small0(at(words, t - 15)) + at(words, t - 7) + small1(at(words, t - 2));
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t++) {
    const one = (h + large1(e) + ((e & f) ^ (~e & g)) + at(ROUND, t) + at(words, t)) | 0;
    const two = (large0(a) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (hash[index] = at(hash, index) + word));
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
const small0 = (x: number): number => rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
const small1 = (x: number): number => rotate(x, 17) ^ rotate(x, 19) ^ (x >>> 10);
const large0 = (x: number): number => rotate(x, 2) ^ rotate(x, 13) ^ rotate(x, 22);
const large1 = (x: number): number => rotate(x, 6) ^ rotate(x, 11) ^ rotate(x, 25);

function fraction(value: number): number {
  return Math.floor((value % 1) * WORD);
}

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  return primes;
}
