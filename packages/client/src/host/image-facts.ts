/** What the bytes of a picture say about it. Nothing is decoded: headers are read, within bounds. */

import { InvalidResultError } from '../errors.ts';

/** The kinds of pictures that are recognised. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/svg+xml';

/** What is known of a picture without decoding it. */
export interface ImageFacts {
  readonly type: ImageType;
  /** In pixels; undefined where the picture scales or does not say. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** 1 for a picture that does not move. */
  readonly frames: number;
}

/**
 * Tells what a picture is by its first bytes, whatever anybody said of its type.
 *
 * @returns undefined for everything that is not one of the known kinds.
 * @throws {InvalidResultError} It begins like one of them but is broken, or is an SVG that is not safe to show.
 */
export function readImageFacts(bytes: Uint8Array): ImageFacts | undefined {
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return readPng(viewOf(bytes));
  if (startsWith(bytes, 0xff, 0xd8, 0xff)) return readJpeg(viewOf(bytes));
  if (tag(bytes, 0) === 'RIFF' && tag(bytes, 8) === 'WEBP') return readWebp(viewOf(bytes));
  return readSvg(bytes);
}

/** @see PNG third edition, sections 5.3, 11.2.1 and 11.3.5.1 */
function readPng(view: DataView): ImageFacts {
  if (view.byteLength < 33 || tagOf(view, 12) !== 'IHDR') throw broken('PNG');
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  let frames = 1;
  for (let at = 33; at + 12 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const name = tagOf(view, at + 4);
    if (name === 'acTL') frames = view.getUint32(at + 8);
    if (name === 'IDAT' || name === 'IEND') break;
  }
  return { type: 'image/png', width, height, frames };
}

/** @see ITU-T T.81 annex B: the size stands in the frame header (SOF0 to SOF15, without DHT, JPG and DAC). */
function readJpeg(view: DataView): ImageFacts {
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) throw broken('JPEG');
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5), frames: 1 };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  throw broken('JPEG');
}

/** @see RFC 9649 section 2 */
function readWebp(view: DataView): ImageFacts {
  let size: { readonly width: number; readonly height: number } | undefined;
  let frames = 0;
  for (let at = 12; at + 8 <= view.byteLength;) {
    const name = tagOf(view, at);
    const length = view.getUint32(at + 4, true);
    if (name === 'ANMF') frames += 1;
    else if (!size && at + 18 <= view.byteLength) size = readWebpSize(view, name, at + 8);
    at += 8 + length + (length % 2);
  }
  if (!size) throw broken('WebP');
  return { type: 'image/webp', ...size, frames: Math.max(1, frames) };
}

function readWebpSize(view: DataView, name: string, at: number): { width: number; height: number } | undefined {
  const uint24 = (offset: number): number => view.getUint16(offset, true) + view.getUint8(offset + 2) * 0x10000;
  if (name === 'VP8X') return { width: uint24(at + 4) + 1, height: uint24(at + 7) + 1 };
  if (name === 'VP8 ') return { width: view.getUint16(at + 6, true) & 0x3fff, height: view.getUint16(at + 8, true) & 0x3fff };
  if (name !== 'VP8L') return undefined;
  const bits = view.getUint32(at + 1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** What can run, load or point elsewhere from within an SVG. Rather too much is refused than too little. */
const UNSAFE_SVG: readonly RegExp[] = [
  /<!(?:doctype|entity)/iu,
  /<\s*(?:[a-z]+:)?(?:script|foreignobject|iframe|embed|object|audio|video|handler|listener|set|animate[a-z]*)[\s/>]/iu,
  /[\s"'/]on[a-z]+\s*=/iu,
  /(?:java|vb)script\s*:/iu,
  /(?:href|src)\s*=(?!["']?(?:#|data:image\/(?:png|jpeg|webp)[;,]))/iu,
  /url\((?!["']?#)/iu,
  /@import|<\?xml-stylesheet/iu,
];

function readSvg(bytes: Uint8Array): ImageFacts | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  if (!/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<svg[\s>]/u.test(text)) return undefined;
  // Character references could spell what is looked for.
  if (UNSAFE_SVG.some((pattern) => pattern.test(text)) || /&#/u.test(text))
    throw new InvalidResultError('the SVG icon holds script or refers to something outside: it is not shown');
  return { type: 'image/svg+xml', width: undefined, height: undefined, frames: 1 };
}

function startsWith(bytes: Uint8Array, ...expected: readonly number[]): boolean {
  return expected.every((byte, index) => bytes[index] === byte);
}

function tag(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function tagOf(view: DataView, at: number): string {
  return tag(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function broken(kind: string): InvalidResultError {
  return new InvalidResultError(`the ${kind} icon is cut off or broken`);
}
