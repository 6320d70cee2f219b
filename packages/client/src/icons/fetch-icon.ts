/** Icons from a peer: which addresses are safe, and their bytes fetched without giving anything away. */

import { checkAmounts } from '@mortise/jsonrpc-core/transport';
import type { Icon } from '@mortise/protocol';
import { readBytes } from '@mortise/protocol/edge';
import { IconError } from '../errors.ts';
import { type ImageFacts, type ImageType, readImageFacts } from './image-facts.ts';

/** Where icons may come from. */
export interface IconSource {
  /** The server's own URL; its origin is trusted. A server without one (stdio) can only give `data:` icons, or `trustedOrigins`. */
  readonly serverUrl?: string | URL | undefined;
  /** More origins, such as `https://cdn.example`. */
  readonly trustedOrigins?: readonly string[] | undefined;
}

/** How an icon is fetched and bounded. */
export interface FetchIconOptions extends IconSource {
  /** Gives the fetch up; it then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long the picture may be, in bytes. @default 262_144 */
  readonly maxBytes?: number | undefined;
  /** How wide and how high it may be, in pixels. @default 1_024 */
  readonly maxPixels?: number | undefined;
  /** How many frames it may have. @default 100 */
  readonly maxFrames?: number | undefined;
  /** The kinds that the program can show. @default PNG, JPEG, WebP and SVG */
  readonly types?: readonly ImageType[] | undefined;
  /** Makes the requests. @default the platform's `fetch` */
  readonly fetch?: typeof fetch | undefined;
}

/** An icon that was fetched and looked at. */
export interface FetchedIcon extends ImageFacts {
  readonly bytes: Uint8Array;
}

const MAX_REDIRECTS = 3;
const ALL_TYPES: readonly ImageType[] = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'];

/**
 * Gives an icon's URL if it is safe to load: `https:` from the server's own origin, or `data:`.
 *
 * @throws {IconError} `ERR_ICON`, with the reason.
 * @see 2026-07-28 basic/index#icons
 */
export function checkIconUrl(src: string, source: IconSource = {}): URL {
  const url = URL.canParse(src) ? new URL(src) : undefined;
  if (url?.protocol === 'data:') return url;
  if (url?.protocol !== 'https:') throw new IconError(`icon ${quote(src)}: only https: and data: URLs are safe to load`);
  if (url.username !== '' || url.password !== '') throw new IconError(`icon ${quote(src)}: the URL holds credentials`);
  const own = source.serverUrl === undefined ? undefined : new URL(source.serverUrl).origin;
  if (url.origin === own || source.trustedOrigins?.includes(url.origin) === true) return url;
  throw new IconError(
    `icon ${quote(src)}: it is not from the server's origin${own === undefined ? '' : ` ${own}`}: add ${url.origin} to trustedOrigins if it is to be trusted`,
  );
}

/**
 * Fetches an icon without cookies or credentials, follows redirects within its origin only, and looks at the bytes: the type is
 * what they say, not what the server or the icon says.
 *
 * @throws {IconError} `ERR_ICON`: the address, size, type or content is not acceptable.
 * @throws {RangeError} A bound is no number, or less than 0.
 */
export async function fetchIcon(icon: Pick<Icon, 'src'>, options: FetchIconOptions = {}): Promise<FetchedIcon> {
  checkAmounts("the icon's bounds", options, { maxBytes: 0, maxPixels: 0, maxFrames: 0 });
  const { types = ALL_TYPES } = options;
  const [maxBytes, maxPixels, maxFrames] = [options.maxBytes ?? 262_144, options.maxPixels ?? 1024, options.maxFrames ?? 100];
  const url = checkIconUrl(icon.src, options);
  const bytes = url.protocol === 'data:' ? readDataUrl(url, maxBytes) : await download(url, maxBytes, options);
  const facts = readImageFacts(bytes);
  if (!facts || !types.includes(facts.type)) throw new IconError(`icon ${quote(icon.src)}: its bytes are not ${types.join(', ')}`);
  if (Math.max(facts.width ?? 0, facts.height ?? 0) > maxPixels)
    throw new IconError(`icon ${quote(icon.src)}: it is larger than ${maxPixels} pixels`);
  if (facts.frames > maxFrames) throw new IconError(`icon ${quote(icon.src)}: it has more than ${maxFrames} frames`);
  return { ...facts, bytes };
}

async function download(first: URL, maxBytes: number, options: FetchIconOptions): Promise<Uint8Array> {
  const { fetch: load = fetch, signal = null } = options;
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const response = await load(url, { credentials: 'omit', redirect: 'manual', referrerPolicy: 'no-referrer', signal });
    if (response.ok) return readBounded(response, maxBytes);
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null)
      throw new IconError(`icon ${quote(first.href)}: HTTP status ${response.status}`);
    url = new URL(location, url);
    if (url.origin !== first.origin) throw new IconError(`icon ${quote(first.href)}: it redirects to ${url.origin}, another origin`);
  }
  throw new IconError(`icon ${quote(first.href)}: more than ${MAX_REDIRECTS} redirects`);
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readBytes(response.body as ReadableStream<Uint8Array> | null, maxBytes);
  if (!bytes) throw tooLarge(maxBytes);
  return bytes;
}

function readDataUrl({ href }: URL, maxBytes: number): Uint8Array {
  const comma = href.indexOf(',');
  const isBase64 = /;base64$/iu.test(href.slice(0, Math.max(0, comma)));
  const payload = href.slice(comma + 1);
  if (comma < 0 || payload.length > maxBytes * 3) throw tooLarge(maxBytes);
  try {
    const text = decodeURIComponent(payload);
    const bytes = isBase64 ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : new TextEncoder().encode(text);
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  } catch (error) {
    throw error instanceof IconError ? error : new IconError('the data: URL of an icon cannot be read', { cause: error });
  }
}

function tooLarge(maxBytes: number): IconError {
  return new IconError(`an icon is longer than ${maxBytes} bytes`);
}

/** A `data:` URL may be long, and nobody wants to read it. */
function quote(src: string): string {
  return src.length > 80 ? `${src.slice(0, 80)}...` : src;
}
