/** The options of a client over HTTP, checked where they enter. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import { createFetchSender, type FetchLike, type HttpSender } from './http-sender.ts';
import { type GivenHeaders, toLowerCaseNames, Wire } from './wire.ts';

/** The options of every client transport over HTTP. */
export interface HttpClientOptions {
  /**
   * Sent with every request, beside what the protocol needs: by name, or as `Headers`, a `Map` or pairs. Names that the protocol needs
   * have no effect.
   *
   * @default none
   */
  readonly headers?: GivenHeaders | undefined;
  /**
   * More for every `fetch`, such as `credentials`, and `headers`. Its method, body, signal and redirect mode have no effect.
   *
   * @default none
   */
  readonly requestInit?: RequestInit | undefined;
  /** What is called to send requests. Must honour `redirect: 'manual'` and `signal`. @default the platform's `fetch` */
  readonly fetch?: FetchLike | undefined;
  /**
   * What sends requests instead of `fetch`: on Node `nodeHttpSender()` of `@mortise/transport-http/node` takes a sixth of the CPU.
   *
   * @default `fetch`
   */
  readonly sender?: HttpSender | undefined;
  /** Gives requests their authorization, and is asked what to do about 401 and 403, at most three times a request. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** The longest message, in bytes of a body or of an event. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** The clock of timeouts and pauses. @default the platform's */
  readonly clock?: Clock | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** Whether a legacy session opens a stream for messages that belong to no request, where the server has one. @default true */
  readonly getStream?: boolean | undefined;
  /** How streams of the legacy era that break are opened again. @default ten attempts in a row */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
  /** Whether `close` leaves a legacy session alive at the server, so that another transport can resume it. @default false */
  readonly keepsSession?: boolean | undefined;
}

/** How streams that break are opened again: after half a second to a second, then twice as long each time up to 30 s. */
export interface ReconnectionOptions {
  /** How many attempts in a row may fail. @default 10 */
  readonly maxRetries?: number | undefined;
}

/** The options of `StreamableHTTPClientTransport`: those of `httpTransport`, and those that MCP's users know. */
export interface StreamableHTTPClientTransportOptions extends HttpTransportOptions {
  /**
   * A legacy session to resume: nothing is initialized, and its stream is opened at once.
   *
   * @default none
   */
  readonly sessionId?: string | undefined;
  /** The revision that was agreed on in that session. @default none */
  readonly protocolVersion?: string | undefined;
}

/** One table for all transports, since programs hand the same options to several. */
const TABLE: OptionTable<StreamableHTTPClientTransportOptions> = {
  headers: ['object', 'array'],
  requestInit: 'object',
  fetch: 'function',
  sender: 'function',
  authorizer: 'object',
  maxMessageBytes: 1,
  clock: 'object',
  getStream: 'boolean',
  reconnectionOptions: { maxRetries: 0 },
  keepsSession: 'boolean',
  sessionId: 'string',
  protocolVersion: 'string',
};

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid URL or option value, or an unknown option. */
export function toWire(url: string | URL, options: StreamableHTTPClientTransportOptions): Wire {
  checkOptions<StreamableHTTPClientTransportOptions>('options of an HTTP client', options, TABLE, HttpOptionError);
  const { headers, requestInit = {}, fetch, authorizer, maxMessageBytes = 16 * 1024 * 1024, clock = systemClock } = options;
  // One signal for all requests would end them all at once and collect their listeners: closing the transport is for that.
  const { headers: initHeaders, signal: _signal, body: _body, method: _method, ...init } = requestInit;
  return new Wire({
    url: toHref(url),
    headers: { ...toLowerCaseNames(new Headers(initHeaders)), ...checkHeaders(toLowerCaseNames(headers ?? {})) },
    sender: options.sender ?? createFetchSender(fetch, init),
    authorizer,
    maxMessageBytes,
    clock,
  });
}

/** An environment variable that is not set would be sent as the text "undefined". No message shows a value, which may be a secret. */
function checkHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string')
      throw new HttpOptionError(`The header "${name}" in the option "headers" must be a text, got ${typeof value}`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new HttpOptionError(
        `The header "${name}" in the option "headers" has a character that no header can carry, such as a line break`,
      );
  }
  return headers as Record<string, string>;
}

function toHref(url: string | URL): string {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    throw new HttpOptionError(`The URL must begin with "https://" or "http://", as https://host/mcp, got ${showUrl(String(url))}`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new HttpOptionError('The URL holds a user name or password: send them in the header "Authorization" instead');
  parsed.hash = '';
  return parsed.href;
}

/** Without what may be secret: a query, or a user with a password. */
function showUrl(given: string): string {
  const [shown = ''] = given.split(/[?#]/, 1);
  return shown.includes('@') ? 'one that names a user' : `"${shown.slice(0, 100)}"`;
}
