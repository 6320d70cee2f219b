/** HTTP for the proxy: responses, none of which may be cached; cookies; requests and bodies with time and size limits. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { readBytes } from '@mortise/protocol/edge';
import { OAuthRefusal } from './errors.ts';

const NEVER_CACHED = { 'Cache-Control': 'no-store', Pragma: 'no-cache', 'X-Content-Type-Options': 'nosniff' };

/** The CORS header of endpoints without cookies: web pages of any origin may call them, without credentials. */
const OPEN_TO_PAGES = { 'Access-Control-Allow-Origin': '*' };

/** Creates a JSON response of an endpoint that programs call. */
export function jsonResponse(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { ...NEVER_CACHED, ...OPEN_TO_PAGES, ...headers } });
}

/** Creates the error response of an endpoint that programs call. */
export function refusalResponse({ error, message, status }: OAuthRefusal): Response {
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth"' } : {};
  return jsonResponse(status, { error, error_description: message }, headers);
}

/** Creates the response to a CORS preflight. */
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
 * Creates a page for users. It runs no scripts, loads nothing and cannot be framed. Its Content-Security-Policy has no `form-action`,
 * because browsers apply that to all redirects that follow a form, and only the first is known here.
 */
export function pageResponse(status: number, html: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
    // With "no-referrer", browsers would send the form with the origin "null", which cannot be checked.
    'Referrer-Policy': 'same-origin',
    ...NEVER_CACHED,
  });
  return withCookies(new Response(html, { status, headers }), cookies);
}

/** Creates a redirect that the browser follows with a GET. */
export function redirectResponse(url: string, cookies: readonly string[] = []): Response {
  const headers = { Location: url, 'Referrer-Policy': 'no-referrer', ...NEVER_CACHED };
  return withCookies(new Response(null, { status: 303, headers }), cookies);
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return response;
}

/** The prefix of all cookie names. Because of `__Host-`, only this host can set such cookies. */
const PREFIX = '__Host-mortise-';

/** Writes a cookie that scripts cannot read and forms of other sites do not send. @param maxAgeMs 0 deletes the cookie. */
export function writeCookie(name: string, value: string, maxAgeMs: number): string {
  return `${PREFIX}${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; Secure; HttpOnly; SameSite=Lax`;
}

/** Reads a cookie. If there are two with the same name, the first counts; the prefix makes sure that both are from this host. */
export function readCookie(request: Request, name: string): string | undefined {
  return listCookies(request, name).find((cookie) => cookie.name === name)?.value;
}

/** Lists the cookies whose names begin with `prefix`, in the order in which browsers send them: the oldest first. */
export function listCookies(request: Request, prefix: string): readonly { readonly name: string; readonly value: string }[] {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */).filter((pair) => pair.startsWith(PREFIX + prefix));
  return pairs.map((pair) => ({ name: pair.slice(PREFIX.length).split('=', 1)[0] ?? '', value: pair.slice(pair.indexOf('=') + 1) }));
}

const MAX_BODY_BYTES = 64 * 1024;

/** Reads the form in a request body. @throws {OAuthRefusal} 413: the body is too long. 415: it has another media type. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readBody(request, 'application/x-www-form-urlencoded'));
}

/** Reads the JSON in a request body. @throws {OAuthRefusal} 400: the body is not JSON. 413: it is too long. 415: another media type. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readBody(request, 'application/json');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OAuthRefusal('invalid_client_metadata', 'The request body is not JSON', { cause });
  }
}

async function readBody(request: Request, mediaType: string): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== mediaType) throw new OAuthRefusal('invalid_request', `The request body must be ${mediaType}`, { status: 415 });
  const bytes = await readBytes(request.body, MAX_BODY_BYTES);
  if (bytes === undefined) throw new OAuthRefusal('invalid_request', `The request body is over ${MAX_BODY_BYTES} bytes`, { status: 413 });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new OAuthRefusal('invalid_request', 'The request body is not UTF-8', { cause });
  }
}

const TIMEOUT_MS = 10_000;

/**
 * Fetches a whole document, with limits of size and time. Follows no redirects. Does NOT check the URL.
 *
 * @throws {Error} The body is longer than `maxBytes`, the request takes longer than ten seconds, or `fetch` fails.
 */
export async function fetchBounded(
  url: string,
  init: RequestInit,
  { fetch, maxBytes }: { readonly fetch: typeof globalThis.fetch; readonly maxBytes: number },
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const bytes = await readBytes(response.body, maxBytes);
  if (bytes === undefined) throw new Error(`${new URL(url).host} sent a response of more than ${maxBytes} bytes`);
  const headers = new Headers(response.headers);
  // These headers describe the encoded body; `bytes` is decoded.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: response.status, headers });
}
