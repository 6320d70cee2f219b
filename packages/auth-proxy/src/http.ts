/** HTTP as the proxy speaks it: answers, none of which may be cached, cookies, bounded bodies, and bounded requests to others. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { readBytes } from '@mortise/protocol/edge';
import { OAuthRefusal } from './errors.ts';

const NEVER_CACHED = { 'Cache-Control': 'no-store', Pragma: 'no-cache', 'X-Content-Type-Options': 'nosniff' };

/** Endpoints without cookies may be called by pages of any origin, never with credentials. */
const OPEN_TO_PAGES = { 'Access-Control-Allow-Origin': '*' };

/** A JSON answer of an endpoint that programs call. */
export function jsonResponse(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { ...NEVER_CACHED, ...OPEN_TO_PAGES, ...headers } });
}

/** A refusal of an endpoint that programs call. */
export function refusalResponse({ error, message, status }: OAuthRefusal): Response {
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth"' } : {};
  return jsonResponse(status, { error, error_description: message }, headers);
}

/** An answer to a preflight. */
export function preflightResponse(): Response {
  const headers = {
    ...OPEN_TO_PAGES,
    'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'Content-Type, Authorization, MCP-Protocol-Version',
    'Access-Control-Max-Age': '86400',
  };
  return new Response(null, { status: 204, headers });
}

/**
 * A page for people. It runs nothing, loads nothing and cannot be framed. `form-action` is left out on purpose: browsers apply it to the
 * whole chain of redirects that follows a form, of which only the first step is known here.
 */
export function pageResponse(status: number, html: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
    // Not "no-referrer": the form would come back with the origin "null", which cannot be checked.
    'Referrer-Policy': 'same-origin',
    ...NEVER_CACHED,
  });
  return withCookies(new Response(html, { status, headers }), cookies);
}

/** Sends the browser on with a GET, whatever it came with. */
export function redirectResponse(url: string, cookies: readonly string[] = []): Response {
  const headers = { Location: url, 'Referrer-Policy': 'no-referrer', ...NEVER_CACHED };
  return withCookies(new Response(null, { status: 303, headers }), cookies);
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return response;
}

/** The start of every cookie's name. `__Host-` keeps other hosts from setting it, `HttpOnly` scripts from reading, `SameSite` foreign forms from sending it. */
const PREFIX = '__Host-mortise-';

/** Writes a cookie. @param maxAgeMs 0 deletes it. */
export function writeCookie(name: string, value: string, maxAgeMs: number): string {
  return `${PREFIX}${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; Secure; HttpOnly; SameSite=Lax`;
}

/** Reads a cookie. The first of two with one name counts: with the prefix only this host can have set both. */
export function readCookie(request: Request, name: string): string | undefined {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${PREFIX}${name}=`))?.slice(PREFIX.length + name.length + 1);
}

const MAX_BODY_BYTES = 64 * 1024;

/** The form in a request. @throws {OAuthRefusal} 413 or 415: it is too long, or of another media type. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readBody(request, 'application/x-www-form-urlencoded'));
}

/** The JSON in a request. @throws {OAuthRefusal} It is not JSON; 413 or 415. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readBody(request, 'application/json');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OAuthRefusal('invalid_client_metadata', 'The body is not JSON', { cause });
  }
}

async function readBody(request: Request, mediaType: string): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== mediaType) throw new OAuthRefusal('invalid_request', `The body must be ${mediaType}`, { status: 415 });
  const bytes = await readBytes(request.body, MAX_BODY_BYTES);
  if (bytes === undefined) throw new OAuthRefusal('invalid_request', `The body has more than ${MAX_BODY_BYTES} bytes`, { status: 413 });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new OAuthRefusal('invalid_request', 'The body is not UTF-8', { cause });
  }
}

const TIMEOUT_MS = 10_000;

/**
 * Fetches a document to its end. Follows no redirect, and does NOT judge the URL.
 *
 * @throws {Error} The body is longer than `maxBytes`; or what `fetch` throws, after ten seconds too.
 */
export async function fetchBounded(
  url: string,
  init: RequestInit,
  { fetch, maxBytes }: { readonly fetch: typeof globalThis.fetch; readonly maxBytes: number },
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const bytes = await readBytes(response.body, maxBytes);
  if (bytes === undefined) throw new Error(`${new URL(url).host} sent more than ${maxBytes} bytes`);
  const headers = new Headers(response.headers);
  // The bytes are decoded, and as many as they are.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: response.status, headers });
}
