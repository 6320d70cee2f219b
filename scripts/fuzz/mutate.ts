/** Breaks JSON values and JSON texts in the ways that peers and attackers do. */

import type { Random } from './random.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const strings = [
  '',
  ' ',
  '\u0000',
  '\u2028',
  '\ud800',
  '🂡',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '%00',
  '-1',
  'null',
  'x'.repeat(2000),
];
const numbers = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e-320];
const keys = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '',
  'then',
  'toJSON',
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  '_meta',
  'io.modelcontextprotocol/x',
];

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
  const value: { [key: string]: Json } = {};
  for (let index = 0; index < count; index += 1) value[`k${index}`] = index;
  return value;
}

/** Sets a member as JSON.parse would, also one that is called `__proto__`. */
function setMember(target: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Breaks one place somewhere in the value; the value itself is not touched. */
export function mutate(value: Json, random: Random): Json {
  if (random.chance(0.15) || typeof value !== 'object' || value === null) return randomScalar(random);
  if (Array.isArray(value)) return mutateArray(value, random);
  return mutateObject(value, random);
}

function mutateArray(value: readonly Json[], random: Random): Json {
  const copy = [...value];
  const at = random.below(copy.length + 1);
  const action = random.next();
  if (copy.length === 0 || action < 0.2) copy.splice(at, 0, randomScalar(random));
  else if (action < 0.4) copy.splice(at, 1);
  else copy[at % copy.length] = mutate(copy[at % copy.length] ?? null, random);
  return copy;
}

function mutateObject(value: { readonly [key: string]: Json }, random: Random): Json {
  const copy: { [key: string]: Json } = { ...value };
  const own = Object.keys(copy);
  const action = random.next();
  if (own.length === 0 || action < 0.12) setMember(copy, random.pick(keys), randomScalar(random));
  else if (action < 0.24) delete copy[random.pick(own)];
  else if (action < 0.3) {
    const from = random.pick(own);
    setMember(copy, random.pick(keys), copy[from] ?? null);
    delete copy[from];
  } else {
    const key = random.pick(own);
    setMember(copy, key, mutate(copy[key] ?? null, random));
  }
  return copy;
}

/** Changes values but neither adds, drops nor renames what JSON-RPC itself demands: the message stays valid JSON-RPC. */
export function mutateParams(message: { readonly [key: string]: Json }, random: Random): { [key: string]: Json } {
  const { params } = message;
  if (params === undefined || params === null || typeof params !== 'object' || Array.isArray(params)) return { ...message };
  const mutated = mutateObject(params, random);
  return { ...message, params: mutated };
}

/** Breaks the text itself: what comes out is mostly no JSON. Never holds a line break. */
export function corruptText(text: string, random: Random): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const at = random.below(Math.max(1, bytes.length));
  const corrupted = random.pick<() => Uint8Array>([
    () => bytes.subarray(0, at),
    () => bytes.subarray(at),
    () => bytes.map((byte, index) => (index === at ? random.below(256) : byte)),
    () => Uint8Array.of(...bytes.subarray(0, at), 0xff, 0xc0, 0x80, ...bytes.subarray(at)),
    () => new TextEncoder().encode('['.repeat(1 + random.below(5000))),
    () => new TextEncoder().encode('{"a":'.repeat(1 + random.below(500))),
    () => new TextEncoder().encode(`${text}${text}`),
    () =>
      new TextEncoder().encode(
        random.pick(['', ' ', '\t', 'GET / HTTP/1.1', 'undefined', 'NaN', '"', '0', '[]', '{}', 'null', "{'a':1}", 'console.log("hello")']),
      ),
  ])();
  return corrupted.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
}
