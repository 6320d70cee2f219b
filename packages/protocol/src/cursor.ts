/**
 * Cursors of lists: opaque, bound to the list that gave them, and refused when altered or made up.
 *
 * A cursor is `base64url(tag || payload)`, the tag being HalfSipHash-2-4 over the list's name and the payload under a secret key. The
 * tag keeps callers from reading meaning into cursors and from making some up; it guards no secret, since a list shows its reader
 * every page anyway. That is why a keyed hash of 64 bits, which is synchronous everywhere, is enough.
 */

import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { halfSipHash } from './half-sip-hash.ts';

/** The longest cursor that is looked at. */
const MAX_CURSOR_LENGTH = 4096;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

/** Makes and reads the cursors of one server's lists. */
export interface CursorCodec {
  /** @param list The list's name, such as its method and filter. @param position What says where to go on: a key or an offset. */
  encode(list: string, position: string): string;
  /** @returns The position; undefined for a cursor of another list or key, or one that was altered. Answer -32602 then. */
  decode(list: string, cursor: string): string | undefined;
}

/**
 * Makes a codec.
 *
 * @param options.key 8 bytes or more. Machines that share it read each other's cursors. @default random, per codec
 */
export function createCursorCodec(options: { readonly key?: Uint8Array } = {}): CursorCodec {
  const key = options.key === undefined ? crypto.getRandomValues(new Uint8Array(8)) : foldKey(options.key);
  const tagOf = (list: string, position: Uint8Array): Uint8Array => {
    const name = encoder.encode(list);
    // The name's length keeps ("ab", "c") and ("a", "bc") apart.
    return halfSipHash(key, concat(Uint8Array.of(name.length & 255, (name.length >> 8) & 255), name, position));
  };
  return {
    encode(list, position) {
      const bytes = encoder.encode(position);
      return toBase64Url(concat(tagOf(list, bytes), bytes));
    },
    decode(list, cursor) {
      const bytes = cursor.length > MAX_CURSOR_LENGTH ? undefined : fromBase64Url(cursor);
      if (bytes === undefined || bytes.length < 8) return undefined;
      const position = bytes.subarray(8);
      return isEqual(tagOf(list, position), bytes.subarray(0, 8)) ? toText(position) : undefined;
    },
  };
}

/** Eight bytes, to which every byte of the key has added. */
function foldKey(key: Uint8Array): Uint8Array {
  if (key.length < 8) throw new RangeError(`A cursor key has 8 bytes or more, got ${key.length}`);
  const folded = new Uint8Array(8);
  for (const [index, byte] of key.entries()) folded[index % 8] = (folded[index % 8] as number) ^ byte;
  return folded;
}

function concat(...chunks: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

/** In the same time wherever they differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] as number) ^ (b[index] ?? 0);
  return difference === 0;
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
