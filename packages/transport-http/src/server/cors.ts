/**
 * Tells browsers which pages may call, out of the same list that the guard goes by, and answers their preflight requests. Never with
 * credentials: MCP sends its token in a header of its own.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */

import type { Guard } from './guard.ts';
import type { HeaderList, HttpRequest } from './http-request.ts';

const METHODS = 'GET, POST, DELETE, OPTIONS';
const ALLOWED = [
  'Content-Type',
  'Accept',
  'Authorization',
  'DPoP',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
];
/** What our own client reads: without the nonce no page could do DPoP (RFC 9449 section 8). */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After';
const MAX_AGE_SECONDS = '7200';
const NONE: HeaderList = [];

/** A header of an argument, as a page asks for it. Bounded, since the answer repeats it. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;

/** The headers that let a page read the answer. */
export function corsHeaders(guard: Guard, origin: string | undefined): HeaderList {
  if (origin === undefined) return NONE;
  const expose = ['Access-Control-Expose-Headers', EXPOSED];
  if (guard.allowsAnyOrigin) return ['Access-Control-Allow-Origin', '*', ...expose];
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...expose];
}

/** The further headers that answer a preflight. `Mcp-Param-*` cannot be listed, so those that were asked for are named. */
export function preflightHeaders(request: HttpRequest): HeaderList {
  const asked = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',');
  const params = asked.map((name) => name.trim()).filter((name) => PARAM_HEADER.test(name));
  return [
    'Access-Control-Allow-Methods',
    METHODS,
    'Access-Control-Allow-Headers',
    [...ALLOWED, ...params].join(', '),
    'Access-Control-Max-Age',
    MAX_AGE_SECONDS,
  ];
}
