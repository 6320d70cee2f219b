/** Breaks JSON values and JSON texts in the ways that peers and attackers do, by a random source that a seed repeats. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** mulberry32: 32 bits of state, good enough to choose what to break next. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    const state = (this.#state = (this.#state + 0x6d2b79f5) >>> 0);
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer of at least 0 and less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

const numbers = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e-320];
const words = ['__proto__ constructor toString ../../etc/passwd %00 -1 null \u0000 \u2028 \ud800 🂡', 'x'.repeat(2000)];
const strings = ['', ' ', ...words.flatMap((text) => text.split(' '))];
const keys = ['', ...'__proto__ constructor hasOwnProperty then toJSON jsonrpc id method params result error _meta _/x'.split(' ')];
const texts = ['', ' ', '\t', 'GET / HTTP/1.1', ...`undefined NaN " 0 [] {} null {'a':1} console.log("hello")`.split(' ')];

const isObject = (value: Json | undefined): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value);

function randomScalar(random: Random): Json {
  return random.pick<() => Json>([
    () => null,
    () => random.chance(0.5),
    () => random.pick(numbers),
    () => random.pick(strings),
    () => [],
    () => ({}),
    () => [null, [[]], {}],
    () => ({ [random.pick(keys)]: random.pick(strings) }),
    () => nest(random.below(200)),
    () => (random.chance(0.02) ? widen(random) : {}),
  ])();
}

function nest(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** An object of very many members. */
function widen(random: Random): Json {
  const count = random.chance(0.15) ? 45_000 + random.below(10_000) : random.below(5_000);
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

/** Breaks one place somewhere in the value; the value itself is not touched. */
export function mutate(value: Json, random: Random): Json {
  if (random.chance(0.15) || typeof value !== 'object' || value === null) return randomScalar(random);
  return Array.isArray(value) ? mutateArray(value, random) : mutateObject(value, random);
}

function mutateArray(value: readonly Json[], random: Random): Json {
  const at = random.below(value.length + 1);
  const action = random.next();
  if (value.length === 0 || action < 0.2) return value.toSpliced(at, 0, randomScalar(random));
  if (action < 0.4) return value.toSpliced(at, 1);
  const index = at % value.length;
  return value.with(index, mutate(value[index] ?? null, random));
}

/** By entries, since a member that is called `__proto__` is to be one as JSON.parse would have it. */
function mutateObject(value: JsonObject, random: Random): JsonObject {
  const entries = Object.entries(value);
  const action = random.next();
  const at = random.below(entries.length);
  const [key, old] = entries[at] ?? ['', null];
  if (entries.length === 0 || action < 0.12) entries.push([random.pick(keys), randomScalar(random)]);
  else if (action < 0.24) entries.splice(at, 1);
  else entries[at] = action < 0.3 ? [random.pick(keys), old] : [key, mutate(old, random)];
  return Object.fromEntries(entries);
}

/** Changes values but neither adds, drops nor renames what JSON-RPC itself demands: the message stays valid JSON-RPC. */
export function mutateParams(message: JsonObject, random: Random): JsonObject {
  return isObject(message['params']) ? { ...message, params: mutateObject(message['params'], random) } : message;
}

/** Breaks the text itself: what comes out is mostly no JSON. Never holds a line break. */
export function corruptText(text: string, random: Random): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const at = random.below(Math.max(1, bytes.length));
  const corrupted = random.pick<() => Uint8Array | string>([
    () => bytes.subarray(0, at),
    () => bytes.subarray(at),
    () => bytes.with(at, random.below(256)),
    () => Uint8Array.of(...bytes.subarray(0, at), 0xff, 0xc0, 0x80, ...bytes.subarray(at)),
    () => '['.repeat(1 + random.below(5000)),
    () => '{"a":'.repeat(1 + random.below(500)),
    () => text + text,
    () => random.pick(texts),
  ])();
  return new Uint8Array(Buffer.from(corrupted as string)).map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
}
