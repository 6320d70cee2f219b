/** The kinds of answers that the proxy gives. None may be kept by anyone. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { OAuthRefusal } from './oauth-refusal.ts';

const NEVER_KEPT = { 'Cache-Control': 'no-store', Pragma: 'no-cache', 'X-Content-Type-Options': 'nosniff' };

/** Endpoints without cookies may be called by pages of any origin, never with credentials. */
const OPEN_TO_PAGES = { 'Access-Control-Allow-Origin': '*' };

/** A JSON answer of an endpoint that programs call. */
export function jsonResponse(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...NEVER_KEPT, ...OPEN_TO_PAGES, ...headers },
  });
}

/** A refusal of an endpoint that programs call. */
export function refusalResponse({ error, message, status }: OAuthRefusal): Response {
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth"' } : {};
  return jsonResponse(status, { error, error_description: message }, headers);
}

/** An answer to a preflight. */
export function preflightResponse(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...OPEN_TO_PAGES,
      'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
      'Access-Control-Allow-Headers': 'Content-Type, Authorization, MCP-Protocol-Version',
      'Access-Control-Max-Age': '86400',
    },
  });
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
    // Not "no-referrer": the form would come back with the origin "null", which tells nothing.
    'Referrer-Policy': 'same-origin',
    ...NEVER_KEPT,
  });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(html, { status, headers });
}

/** Sends the browser on with a GET, whatever it came with. */
export function redirectResponse(url: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ Location: url, 'Referrer-Policy': 'no-referrer', ...NEVER_KEPT });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}
