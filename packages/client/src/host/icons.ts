/** Icons from a server: checks their URLs, fetches them without credentials, and detects the image type from the bytes. */

import { InvalidResponseError } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Icon } from '@mortise/protocol';
import { readBytes } from '@mortise/protocol/edge';

/** The origins that icons may come from. */
export interface IconSource {
  /** The server's own URL, whose origin is trusted. Without it (stdio), only `data:` icons and `trustedOrigins` are accepted. */
  readonly serverUrl?: string | URL | undefined;
  /** More trusted origins, such as `https://cdn.example`. */
  readonly trustedOrigins?: readonly string[] | undefined;
}

/** The options of `fetchIcon`. */
export interface FetchIconOptions extends IconSource {
  /** Cancels the fetch, which then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Makes the HTTP requests. @default the platform's `fetch` */
  readonly fetch?: typeof fetch | undefined;
}

/** A fetched icon whose bytes have been checked. */
export interface FetchedIcon extends ImageFacts {
  readonly bytes: Uint8Array;
}

const MAX_BYTES = 262_144;
const MAX_REDIRECTS = 3;
/** The greatest width and height of an icon, in pixels. */
const MAX_PIXELS = 1024;
const MAX_FRAMES = 100;

/**
 * Parses an icon's URL and checks that it is safe to load: `data:`, or `https:` from the server's own origin or a trusted one.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the URL is not safe to load.
 * @see 2026-07-28 basic/index#icons
 */
export function checkIconUrl(src: string, source: IconSource = {}): URL {
  const url = URL.canParse(src) ? new URL(src) : undefined;
  if (url?.protocol === 'data:') return url;
  if (url?.protocol !== 'https:') throw new InvalidResponseError(`icon ${quote(src)}: only https: and data: URLs are allowed`);
  if (url.username !== '' || url.password !== '') throw new InvalidResponseError(`icon ${quote(src)}: the URL contains credentials`);
  const own = source.serverUrl === undefined ? undefined : new URL(source.serverUrl).origin;
  if (url.origin === own || source.trustedOrigins?.includes(url.origin) === true) return url;
  throw new InvalidResponseError(
    `icon ${quote(src)}: it is not from the server's origin${own === undefined ? '' : ` ${own}`}: if you trust ${url.origin}, add it to trustedOrigins`,
  );
}

/**
 * Fetches an icon without cookies or credentials. Follows redirects within the icon's origin only. Detects the image type from the bytes and
 * ignores the declared type.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the URL, type or content is not acceptable, or the icon has more than 1,024 pixels a
 *   side, 100 frames or 262,144 bytes.
 */
export async function fetchIcon(icon: Pick<Icon, 'src'>, options: FetchIconOptions = {}): Promise<FetchedIcon> {
  checkOptions('fetchIcon options', options, {
    signal: 'signal',
    fetch: 'function',
    serverUrl: ['string', 'object'],
    trustedOrigins: 'array',
  });
  const url = checkIconUrl(icon.src, options);
  const bytes = url.protocol === 'data:' ? readDataUrl(url) : await download(url, options);
  const facts = readImageFacts(bytes);
  if (!facts) throw new InvalidResponseError(`icon ${quote(icon.src)}: its bytes are not a PNG, JPEG, WebP or SVG image`);
  if (Math.max(facts.width ?? 0, facts.height ?? 0) > MAX_PIXELS)
    throw new InvalidResponseError(`icon ${quote(icon.src)}: it is larger than ${MAX_PIXELS} pixels a side`);
  if (facts.frames > MAX_FRAMES) throw new InvalidResponseError(`icon ${quote(icon.src)}: it has more than ${MAX_FRAMES} frames`);
  return { ...facts, bytes };
}

async function download(first: URL, { fetch: load = fetch, signal }: FetchIconOptions): Promise<Uint8Array> {
  const fail = (why: string): InvalidResponseError => new InvalidResponseError(`icon ${quote(first.href)}: ${why}`);
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const response = await load(url, { credentials: 'omit', redirect: 'manual', referrerPolicy: 'no-referrer', signal: signal ?? null });
    if (response.ok) return (await readBytes(response.body as ReadableStream<Uint8Array> | null, MAX_BYTES)) ?? tooLong();
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) throw fail(`HTTP status ${response.status}`);
    url = new URL(location, url);
    if (url.origin !== first.origin) throw fail(`it redirects to ${url.origin}, another origin`);
  }
  throw fail(`more than ${MAX_REDIRECTS} redirects`);
}

function readDataUrl({ href }: URL): Uint8Array {
  const [, type = '', payload] = /^data:([^,]*),([\s\S]*)$/iu.exec(href) ?? [];
  if (payload === undefined || payload.length > MAX_BYTES * 3) return tooLong();
  let bytes: Uint8Array;
  try {
    const text = decodeURIComponent(payload);
    bytes = /;base64$/iu.test(type) ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : new TextEncoder().encode(text);
  } catch (cause) {
    throw new InvalidResponseError('the data: URL of an icon cannot be read', { cause });
  }
  return bytes.byteLength > MAX_BYTES ? tooLong() : bytes;
}

function tooLong(): never {
  throw new InvalidResponseError(`the icon is longer than ${MAX_BYTES} bytes`);
}

/** Shortens a URL for a message, because a `data:` URL may be very long. */
function quote(src: string): string {
  return src.length > 80 ? `${src.slice(0, 80)}...` : src;
}

// ---- image headers, read without decoding the image

/** The image types that an icon may have. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/svg+xml';

/** The type, size and number of frames of an image, read from its bytes. */
export interface ImageFacts {
  readonly type: ImageType;
  /** The image's width in pixels; undefined if the image has no fixed size. The same holds for `height`. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** The number of frames; 1 for an image that is not animated. */
  readonly frames: number;
}

/**
 * Detects the image type from the first bytes and reads the image's size and number of frames.
 *
 * @returns undefined if the bytes are not a supported image type.
 * @throws {InvalidResponseError} The image is broken, or is an SVG that is not safe to show.
 */
export function readImageFacts(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tagAt(view, 0) === '\x89PNG' && tagAt(view, 4) === '\r\n\x1a\n') return readPng(view);
  if (tagAt(view, 0).startsWith('\xff\xd8\xff')) return readJpeg(view);
  if (tagAt(view, 0) === 'RIFF' && tagAt(view, 8) === 'WEBP') return readWebp(view);
  return readSvg(bytes);
}

/** Reads the size and number of frames of a PNG image. @see PNG third edition, sections 5.3, 11.2.1 and 11.3.5.1 */
function readPng(view: DataView): ImageFacts {
  if (view.byteLength < 33 || tagAt(view, 12) !== 'IHDR') throw broken('PNG');
  let frames = 1;
  for (let at = 33; at + 12 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const name = tagAt(view, at + 4);
    if (name === 'acTL') frames = view.getUint32(at + 8);
    if (name === 'IDAT' || name === 'IEND') break;
  }
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20), frames };
}

/** Reads the size of a JPEG image from the frame header: SOF0 to SOF15, without DHT, JPG and DAC. @see ITU-T T.81 annex B */
function readJpeg(view: DataView): ImageFacts {
  for (let at = 2; at + 9 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) break;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5), frames: 1 };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  throw broken('JPEG');
}

/** Reads the size and number of frames of a WebP image. @see RFC 9649 section 2 */
function readWebp(view: DataView): ImageFacts {
  let size: { readonly width: number; readonly height: number } | undefined;
  let frames = 0;
  for (let at = 12; at + 8 <= view.byteLength;) {
    const name = tagAt(view, at);
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

/** Patterns of SVG content that can run code, load or link something. They may also match some harmless content. */
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
  // Character references could hide one of the patterns.
  if (UNSAFE_SVG.some((pattern) => pattern.test(text)) || /&#/u.test(text))
    throw new InvalidResponseError('the SVG icon is not safe to show: it contains a script, a link or another active part');
  return { type: 'image/svg+xml', width: undefined, height: undefined, frames: 1 };
}

/** Reads the four bytes at a position as characters; fewer at the end of the data. */
function tagAt({ buffer, byteOffset, byteLength }: DataView, at: number): string {
  const length = Math.max(0, Math.min(4, byteLength - at));
  return length === 0 ? '' : String.fromCharCode(...new Uint8Array(buffer, byteOffset + at, length));
}

function broken(kind: string): InvalidResponseError {
  return new InvalidResponseError(`the ${kind} icon is cut off or broken`);
}
