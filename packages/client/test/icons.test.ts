/** Icons from a peer: addresses, bytes, bounds. */

import { describe, expect, it } from 'vitest';
import { checkIconUrl, fetchIcon, readImageFacts } from '../src/host.ts';
import { InvalidResponseError } from '@mortise/jsonrpc-core';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

const serverUrl = 'https://server.example/mcp';

function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? Array.from(part, (character) => character.charCodeAt(0)) : [...part])),
  );
}

function uint32(value: number, isLittle = false): number[] {
  const bytes = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  return isLittle ? bytes.reverse() : bytes;
}

function png(width = 16, height = 16, frames?: number): Uint8Array {
  const chunk = (name: string, data: number[]): number[] => [...uint32(data.length), ...bytesOf(name), ...data, 0, 0, 0, 0];
  const animation = frames === undefined ? [] : chunk('acTL', [...uint32(frames), ...uint32(0)]);
  return bytesOf(
    [0x89],
    'PNG\r\n',
    [0x1a, 0x0a],
    chunk('IHDR', [...uint32(width), ...uint32(height), 8, 6, 0, 0, 0]),
    chunk('tEXt', [1, 2, 3]),
    animation,
    chunk('IDAT', [0]),
  );
}

function jpeg(width = 20, height = 10): Uint8Array {
  return bytesOf([
    0xff,
    0xd8,
    0xff,
    0xe0,
    0,
    4,
    1,
    2,
    0xff,
    0xc0,
    0,
    11,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    1,
    0,
    0,
    0,
  ]);
}

function webp(kind: 'VP8X' | 'VP8 ' | 'VP8L', frames = 0): Uint8Array {
  const bodies = {
    VP8X: [0, 0, 0, 0, 29, 0, 0, 14, 0, 0],
    'VP8 ': [0, 0, 0, 0x9d, 0x01, 0x2a, 30, 0, 15, 0],
    VP8L: [0x2f, 29, 0x80, 0x03, 0, 0, 0, 0, 0, 0],
  };
  const chunk = (name: string, body: readonly number[]): number[] => [...bytesOf(name), ...uint32(body.length, true), ...body];
  const animation = Array.from({ length: frames }, () => chunk('ANMF', [1, 2])).flat();
  return bytesOf('RIFF', uint32(99, true), 'WEBP', chunk(kind, bodies[kind]), animation);
}

const svg = (inner: string, attributes = ''): Uint8Array =>
  new TextEncoder().encode(`<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inner}</svg>`);
const data = (bytes: Uint8Array, type = 'image/png'): string => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

/** A `fetch` that answers by URL and keeps how it was called. */
function fakeFetch(answers: Readonly<Record<string, () => Response>>): {
  fetch: typeof fetch;
  calls: { url: string; init: RequestInit | undefined }[];
} {
  const calls: { url: string; init: RequestInit | undefined }[] = [];
  const fake = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = String(input);
    calls.push({ url, init });
    return Promise.resolve((answers[url] ?? (() => new Response(null, { status: 404 })))());
  };
  return { fetch: fake, calls };
}

describe("an icon's address", () => {
  it.each(['https://server.example/icon.png', 'https://server.example:443/a/b?c'])(
    "[ICON-003][JSCH-009] may be https of the server's origin: %s",
    (src) => {
      expect(checkIconUrl(src, { serverUrl }).href).toBe(new URL(src).href);
    },
  );

  it.each([
    'http://server.example/icon.png',
    'ftp://server.example/icon.png',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://server.example/',
    'blob:https://server.example/1',
    '/icon.png',
    '',
  ])('[ICON-003][JSCH-009] may not be %j', (src) => {
    expect(() => checkIconUrl(src, { serverUrl })).toThrow('only https: and data: URLs are allowed');
  });

  it.each([
    'https://other.example/icon.png',
    'https://server.example.evil.example/',
    'https://server.example:8443/icon.png',
    'https://sub.server.example/i.png',
  ])('[ICON-005][JSCH-010] may not be of another origin, unless that is trusted: %s', (src) => {
    expect(() => checkIconUrl(src, { serverUrl })).toThrow('trustedOrigins');
    expect(() => checkIconUrl(src)).toThrow(InvalidResponseError);
    expect(checkIconUrl(src, { trustedOrigins: [new URL(src).origin] }).href).toBe(src);
  });

  it('[ICON-004] may not hold credentials', () => {
    expect(() => checkIconUrl('https://user:pass@server.example/i.png', { serverUrl })).toThrow('credentials');
  });

  it('may be a data: URL, of any server', () => {
    expect(checkIconUrl(data(png())).protocol).toBe('data:');
  });
});

describe("an icon's bytes", () => {
  it.each([
    { name: 'PNG', bytes: png(16, 9), facts: { type: 'image/png', width: 16, height: 9, frames: 1 } },
    { name: 'animated PNG', bytes: png(1, 1, 7), facts: { type: 'image/png', width: 1, height: 1, frames: 7 } },
    { name: 'JPEG', bytes: jpeg(300, 200), facts: { type: 'image/jpeg', width: 300, height: 200, frames: 1 } },
    { name: 'WebP (extended)', bytes: webp('VP8X', 3), facts: { type: 'image/webp', width: 30, height: 15, frames: 3 } },
    { name: 'WebP (lossy)', bytes: webp('VP8 '), facts: { type: 'image/webp', width: 30, height: 15, frames: 1 } },
    { name: 'WebP (lossless)', bytes: webp('VP8L'), facts: { type: 'image/webp', width: 30, height: 15, frames: 1 } },
    {
      name: 'SVG',
      bytes: svg('<path d="M0 0"/><use href="#a"/><rect fill="url(#g)"/>'),
      facts: { type: 'image/svg+xml', width: undefined, height: undefined, frames: 1 },
    },
  ])('[ICON-002][ICON-007][JSCH-008] tell what it is: $name', async ({ bytes, facts }) => {
    expect(readImageFacts(bytes)).toEqual(facts);
    // What the URL says of the type does not count.
    expect(await fetchIcon({ src: data(bytes, 'text/plain') })).toMatchObject(facts);
  });

  it.each([
    { name: 'HTML', bytes: bytesOf('<!doctype html><html></html>') },
    { name: 'GIF', bytes: bytesOf('GIF89a', [0, 0, 0, 0]) },
    { name: 'nothing', bytes: bytesOf() },
    { name: 'invalid UTF-8', bytes: bytesOf([0xc3, 0x28]) },
    { name: 'XML that is no SVG', bytes: bytesOf('<?xml version="1.0"?><x><svg></svg></x>') },
  ])('[ICON-006][JSCH-010] that are not of the known kinds are refused, whatever their declared type: $name', async ({ bytes }) => {
    expect(readImageFacts(bytes)).toBeUndefined();
    await expect(fetchIcon({ src: data(bytes, 'image/png') })).rejects.toThrow('its bytes are not a PNG, JPEG, WebP or SVG image');
  });

  it.each([
    png().subarray(0, 20),
    jpeg().subarray(0, 6),
    bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 2, 1, 1, 1, 1, 1, 1, 1]),
    webp('VP8X').subarray(0, 14),
  ])('that are cut off or broken are refused (%#)', (bytes) => {
    expect(() => readImageFacts(bytes)).toThrow('cut off or broken');
  });

  it.each([
    '<script>alert(1)</script>',
    '<svg:script xmlns:svg="http://www.w3.org/2000/svg">x</svg:script>',
    '<a href="javascript:alert(1)">x</a>',
    '<image href="https://evil.example/track.png"/>',
    "<image xlink:href='//evil.example/x'/>",
    '<use href = "https://evil.example/#a"/>',
    '<rect onclick="x()"/>',
    '<g\nonload ="x()"/>',
    '<foreignObject><body/></foreignObject>',
    '<rect style="fill:url(https://evil.example/x)"/>',
    '<style>@import "https://evil.example/x.css";</style>',
    '<set attributeName="href" to="javascript:x"/>',
    '<a href="&#106;avascript:x">x</a>',
  ])('[ICON-007] that are an SVG with script or something outside are refused: %j', (inner) => {
    expect(() => readImageFacts(svg(inner))).toThrow('contains a script, a link or another active part');
  });

  it('[ICON-007] that are an SVG with entities are refused in linear time', () => {
    expect(() => readImageFacts(new TextEncoder().encode('<?xml version="1.0"?><svg><!DOCTYPE x [<!ENTITY a "b">]></svg>'))).toThrow(
      InvalidResponseError,
    );
    const cpuMs = countCpuMs();
    for (const inner of [' '.repeat(200_000), `href${' '.repeat(200_000)}`, '<'.repeat(200_000), 'href= '.repeat(30_000)]) {
      try {
        readImageFacts(svg(inner));
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidResponseError);
      }
    }
    expect(cpuMs()).toBeLessThan(2000);
  });
});

describe('fetching an icon', () => {
  const src = 'https://server.example/icon.png';

  it('[ICON-004][JSCH-010] sends no cookies, credentials or referrer', async () => {
    const { fetch, calls } = fakeFetch({ [src]: () => new Response(png()) });
    expect((await fetchIcon({ src }, { serverUrl, fetch })).type).toBe('image/png');
    expect(calls[0]?.init).toMatchObject({ credentials: 'omit', redirect: 'manual', referrerPolicy: 'no-referrer' });
    expect(calls[0]?.init).not.toHaveProperty('headers');
  });

  it('[JSCH-009] follows redirects within the origin only, a few of them', async () => {
    const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
    const { fetch } = fakeFetch({
      [src]: to('/other.png'),
      'https://server.example/other.png': () => new Response(png()),
      'https://server.example/away.png': to('https://evil.example/x.png'),
      'https://server.example/down.png': to('http://server.example/x.png'),
      'https://server.example/loop.png': to('/loop.png'),
    });
    const load = (path: string) => fetchIcon({ src: `https://server.example/${path}` }, { serverUrl, fetch });
    await expect(load('icon.png')).resolves.toMatchObject({ type: 'image/png' });
    await expect(load('away.png')).rejects.toThrow('redirects to https://evil.example');
    await expect(load('down.png')).rejects.toThrow('another origin');
    await expect(load('loop.png')).rejects.toThrow('more than 3 redirects');
    await expect(load('none.png')).rejects.toThrow('HTTP status 404');
  });

  it('[ICON-006][JSCH-010] is bounded in bytes, pixels and frames', async () => {
    let pulled = 0;
    const endless = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(1024));
          },
        }),
      );
    const { fetch } = fakeFetch({ [src]: endless });
    await expect(fetchIcon({ src }, { serverUrl, fetch })).rejects.toThrow('longer than 262144 bytes');
    expect(pulled).toBeLessThan(266);
    await expect(fetchIcon({ src: data(new Uint8Array(300_000)) })).rejects.toThrow('longer than 262144 bytes');
    await expect(fetchIcon({ src: data(png(2000, 10)) })).rejects.toThrow('larger than 1024 pixels');
    await expect(fetchIcon({ src: data(png(10, 10, 101)) })).rejects.toThrow('more than 100 frames');
  });

  it('reads data: URLs with and without base64, and refuses broken ones', async () => {
    expect((await fetchIcon({ src: `data:image/svg+xml,${encodeURIComponent('<svg ></svg>')}` })).type).toBe('image/svg+xml');
    await expect(fetchIcon({ src: 'data:image/png;base64,%%%' })).rejects.toThrow('cannot be read');
    await expect(fetchIcon({ src: 'data:image/png' })).rejects.toBeInstanceOf(InvalidResponseError);
  });
});
