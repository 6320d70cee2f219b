/** Icons from a peer: which addresses are safe, and their bytes fetched without giving anything away. */

import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Icon } from '@mortise/protocol';
import { readBytes } from '@mortise/protocol/edge';
import { InvalidResultError } from '../errors.ts';
import { type ImageFacts, readImageFacts } from './image-facts.ts';

/** Where icons may come from. */
export interface IconSource {
  /** The server's own URL; its origin is trusted. A server without one (stdio) can only give `data:` icons, or `trustedOrigins`. */
  readonly serverUrl?: string | URL | undefined;
  /** More origins, such as `https://cdn.example`. */
  readonly trustedOrigins?: readonly string[] | undefined;
}

/** How an icon is fetched. */
export interface FetchIconOptions extends IconSource {
  /** Gives the fetch up; it then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long the picture may be, in bytes. @default 262_144 */
  readonly maxBytes?: number | undefined;
  /** Makes the requests. @default the platform's `fetch` */
  readonly fetch?: typeof fetch | undefined;
}

/** An icon that was fetched and looked at. */
export interface FetchedIcon extends ImageFacts {
  readonly bytes: Uint8Array;
}

const MAX_REDIRECTS = 3;
/** In width and in height. */
const MAX_PIXELS = 1024;
const MAX_FRAMES = 100;

/**
 * Gives an icon's URL if it is safe to load: `https:` from the server's own origin, or `data:`.
 *
 * @throws {InvalidResultError} `ERR_INVALID_RESULT`, with the reason.
 * @see 2026-07-28 basic/index#icons
 */
export function checkIconUrl(src: string, source: IconSource = {}): URL {
  const url = URL.canParse(src) ? new URL(src) : undefined;
  if (url?.protocol === 'data:') return url;
  if (url?.protocol !== 'https:') throw new InvalidResultError(`icon ${quote(src)}: only https: and data: URLs are safe to load`);
  if (url.username !== '' || url.password !== '') throw new InvalidResultError(`icon ${quote(src)}: the URL holds credentials`);
  const own = source.serverUrl === undefined ? undefined : new URL(source.serverUrl).origin;
  if (url.origin === own || source.trustedOrigins?.includes(url.origin) === true) return url;
  throw new InvalidResultError(
    `icon ${quote(src)}: it is not from the server's origin${own === undefined ? '' : ` ${own}`}: add ${url.origin} to trustedOrigins if it is to be trusted`,
  );
}

/**
 * Fetches an icon without cookies or credentials, follows redirects within its origin only, and looks at the bytes: the type is
 * what they say, not what the server or the icon says.
 *
 * @throws {InvalidResultError} `ERR_INVALID_RESULT`: the address, type or content is not acceptable, or it is larger than 1,024 pixels a side,
 *   100 frames or `maxBytes`.
 */
export async function fetchIcon(icon: Pick<Icon, 'src'>, options: FetchIconOptions = {}): Promise<FetchedIcon> {
  checkOptions('fetchIcon options', options, {
    signal: 'object',
    maxBytes: 0,
    fetch: 'function',
    serverUrl: ['string', 'object'],
    trustedOrigins: 'array',
  });
  const { maxBytes = 262_144 } = options;
  const url = checkIconUrl(icon.src, options);
  const bytes = url.protocol === 'data:' ? readDataUrl(url, maxBytes) : await download(url, maxBytes, options);
  const facts = readImageFacts(bytes);
  if (!facts) throw new InvalidResultError(`icon ${quote(icon.src)}: its bytes are not a PNG, JPEG, WebP or SVG picture`);
  if (Math.max(facts.width ?? 0, facts.height ?? 0) > MAX_PIXELS)
    throw new InvalidResultError(`icon ${quote(icon.src)}: it is larger than ${MAX_PIXELS} pixels`);
  if (facts.frames > MAX_FRAMES) throw new InvalidResultError(`icon ${quote(icon.src)}: it has more than ${MAX_FRAMES} frames`);
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
      throw new InvalidResultError(`icon ${quote(first.href)}: HTTP status ${response.status}`);
    url = new URL(location, url);
    if (url.origin !== first.origin)
      throw new InvalidResultError(`icon ${quote(first.href)}: it redirects to ${url.origin}, another origin`);
  }
  throw new InvalidResultError(`icon ${quote(first.href)}: more than ${MAX_REDIRECTS} redirects`);
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
    throw error instanceof InvalidResultError ? error : new InvalidResultError('the data: URL of an icon cannot be read', { cause: error });
  }
}

function tooLarge(maxBytes: number): InvalidResultError {
  return new InvalidResultError(`an icon is longer than ${maxBytes} bytes`);
}

/** A `data:` URL may be long, and nobody wants to read it. */
function quote(src: string): string {
  return src.length > 80 ? `${src.slice(0, 80)}...` : src;
}
