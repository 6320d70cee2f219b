/** `NodeExchange`: an HTTP exchange on the objects of `node:http`, without web `Request` and `Response`. */

import type { Settings } from '../options.ts';
import type { SharedState } from './shared-state.ts';
import { type HeaderList, HttpRefusal } from './refusal.ts';
import { HttpExchange, SINGLE_HEADERS, takenBody } from './http-exchange.ts';
import type { BodyReader } from './read-body.ts';
import { type ByteSink, ResponseStream } from './response-stream.ts';

const MAX_HEADERS = 200;
/** A response longer than this is written in pieces, so that a client that stops reading is noticed. */
const LONG_ANSWER = 64 * 1024;
/** How long the rest of a refused body is read and discarded, so that the client gets the response and not a connection error. */
const END_DELAY_MS = 1000;

export class NodeExchange extends HttpExchange {
  readonly method: string;
  readonly target: string;
  readonly mountPath: string;
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;
  /** The possible spellings of the host, in lower case, if the request target is an absolute URL. */
  readonly #targetAuthorities: readonly string[] | undefined;
  #isComplete = false;

  constructor(
    shared: SharedState,
    request: NodeRequest,
    response: NodeResponse,
    given: { readonly auth?: unknown; readonly parsedBody?: unknown },
  ) {
    super(shared, given);
    this.#request = request;
    this.#response = response;
    this.method = request.method ?? 'GET';
    this.mountPath = typeof request.baseUrl === 'string' ? request.baseUrl : '';
    const url = request.url ?? '/';
    if (url.startsWith('/')) {
      this.target = url;
    } else {
      const absolute = URL.canParse(url) ? new URL(url) : undefined;
      this.target = absolute === undefined ? url : absolute.pathname + absolute.search;
      this.#targetAuthorities = absolute === undefined ? [] : toAuthorities(absolute);
    }
    const onClose = (): void => {
      if (!this.#isComplete || !response.writableFinished) this.leave();
    };
    response.on('close', onClose);
    // Node does not tell a response that waits behind another one on its connection that the connection has closed.
    if (response.socket === null) request.socket?.setMaxListeners?.(0)?.once('close', onClose);
    // If the client disconnects during a write, Node emits an error. 'close' already handles that.
    response.on('error', () => undefined);
  }

  get scheme(): 'http' | 'https' {
    return this.#request.socket?.encrypted === true ? 'https' : 'http';
  }

  get authority(): string | undefined {
    const host = this.header(':authority') ?? this.header('host');
    const inTarget = this.#targetAuthorities;
    return inTarget === undefined || (host !== undefined && inTarget.includes(host.toLowerCase())) ? host : undefined;
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket?.remoteAddress;
  }

  get givenOrigin(): string | undefined {
    const value = this.#response.getHeader?.('access-control-allow-origin');
    return typeof value === 'string' ? value : undefined;
  }

  get isLoopback(): boolean | undefined {
    const address = this.#request.socket?.localAddress;
    return address === undefined ? undefined : isLoopbackAddress(address);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined;
  }

  findDuplicateHeader(): string | undefined {
    const { rawHeaders } = this.#request;
    if (rawHeaders.length > 2 * MAX_HEADERS) throw new HttpRefusal(431, `A request may have at most ${MAX_HEADERS} headers`);
    // `headers` drops or joins repeated names, so only `rawHeaders` shows them.
    const names: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]?.toLowerCase() ?? '';
      if (!SINGLE_HEADERS.includes(name) && !/^(?:mcp-|content-type$|content-length$)/.test(name)) continue;
      if (names.includes(name)) return name;
      names.push(name);
    }
    return undefined;
  }

  protected feed(reader: BodyReader): void {
    const request = this.#request;
    if (request.readableEnded === true) return reader.refuse(takenBody());
    request.on('data', reader.push);
    request.on('end', reader.end);
    request.on('error', reader.fail);
    request.on('close', reader.fail);
  }

  protected respond(status: number, headers: HeaderList, body?: string, closes?: boolean): void {
    if (this.hasLeft) return;
    const response = this.#response;
    this.#isComplete = true;
    if (body === undefined) {
      this.#writeHead(status, headers);
      response.end();
    } else if (headers.length === 2 && body.length <= LONG_ANSWER && closes !== true) {
      // The usual case. For Node, one combined call costs half as much as separate calls.
      response.writeHead(status, { [headers[0] ?? '']: headers[1] ?? '', 'Content-Length': byteLength(body) });
      response.end(body);
      if (response.writableLength > 0) cutUnread(response, this.shared.settings);
    } else {
      this.#writeHead(status, [
        ...headers,
        'Content-Length',
        String(byteLength(body)),
        ...(closes === true ? ['Connection', 'close'] : []),
      ]);
      if (closes === true) this.#endLater(body);
      else if (body.length > LONG_ANSWER) this.#writeAtReadersPace(body);
      else {
        response.end(body);
        cutUnread(response, this.shared.settings);
      }
    }
  }

  protected startStream(status: number, headers: HeaderList): ByteSink {
    if (!this.hasLeft) {
      this.#writeHead(status, headers);
      this.#response.flushHeaders?.();
    }
    return new NodeSink(this.#response, this.shared.settings, () => (this.#isComplete = true));
  }

  #writeHead(status: number, headers: HeaderList): void {
    this.#response.statusCode = status;
    for (let at = 0; at < headers.length; at += 2) this.#response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
  }

  #writeAtReadersPace(body: string): void {
    const stream = new ResponseStream(new NodeSink(this.#response, this.shared.settings), this.shared, {
      overflow: 'wait',
      isEvents: false,
    });
    this.#response.on('close', () => stream.cut());
    stream.end(body);
  }

  /** Sends the complete response now, but closes the connection only after reading and discarding the rest of the request for a while. */
  #endLater(body: string): void {
    const response = this.#response;
    response.write(body);
    const timer = setTimeout(() => response.end(), END_DELAY_MS);
    this.#request.on('end', () => response.end());
    response.on('close', () => clearTimeout(timer));
    this.#request.resume();
  }
}

/** Whether a socket address is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}

/** Returns the possible spellings of a URL's host: with and without the default port. */
function toAuthorities({ host, port, protocol }: URL): readonly string[] {
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host];
}

const { Buffer } = globalThis as { readonly Buffer?: { byteLength(text: string): number } };

/** Returns the length of a text in bytes of UTF-8. Uses Node's `Buffer` if it exists, without needing Node's types. */
function byteLength(text: string): number {
  return Buffer === undefined ? new TextEncoder().encode(text).length : Buffer.byteLength(text);
}

/** Aborts a response that has ended if its client then reads nothing for `stallMs`. Until its end, `ResponseStream` watches a long one. */
function cutUnread(response: NodeResponse, { clock, stallMs }: Settings): void {
  let left = response.writableLength;
  if (left === 0) return;
  const look = (): void => {
    if (response.writableLength >= left) return void response.destroy();
    left = response.writableLength;
    if (left > 0) timer = clock.schedule(look, stallMs);
  };
  let timer = clock.schedule(look, stallMs);
  response.on('close', () => timer.cancel());
}

class NodeSink implements ByteSink {
  onDrain: (() => void) | undefined;
  readonly #response: NodeResponse;
  readonly #settings: Settings;
  readonly #onEnd: (() => void) | undefined;

  constructor(response: NodeResponse, settings: Settings, onEnd?: () => void) {
    this.#response = response;
    this.#settings = settings;
    this.#onEnd = onEnd;
    response.on('drain', () => this.onDrain?.());
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  write(text: string): boolean {
    return this.#response.write(text);
  }

  end(): void {
    this.#onEnd?.();
    this.#response.end();
    cutUnread(this.#response, this.#settings);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

// ---- the used parts of node:http
// `IncomingMessage` and `ServerResponse` fit, and so do the objects of Express, Fastify (`.raw`) and `node:http2`. Declared here so that this
// entry needs no Node types.

/** The type of an event listener. TypeScript checks methods bivariantly, so it fits `on` in all versions of Node's types. */
type Listener = { listen(...args: unknown[]): void }['listen'];

/** The members of Node's `IncomingMessage` that are used. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The path at which Express has mounted the handler. `url` is relative to it. */
  readonly baseUrl?: unknown;
  /** The request headers, by lower-case name. Repeated headers are joined. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The request headers as a list of alternating names and values, as received. */
  readonly rawHeaders: readonly string[];
  /** The connection. Missing if the request was not made by `node:http`. */
  readonly socket?: NodeSocket | null | undefined;
  /** Whether the body has been read to its end. */
  readonly readableEnded?: boolean | undefined;
  /** The parsed body, if a body parser has already read it. */
  readonly body?: unknown;
  /** The authenticated caller, if a framework has verified it. */
  readonly auth?: unknown;
  on(event: string, listener: Listener): unknown;
  resume(): unknown;
}

/** The members of a Node socket that are used. */
export interface NodeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly encrypted?: boolean | undefined;
  setMaxListeners?(count: number): { once(event: string, listener: Listener): unknown };
}

/** The members of Node's `ServerResponse` that are used. */
export interface NodeResponse {
  statusCode: number;
  readonly writableLength: number;
  readonly writableFinished: boolean;
  /** The connection; null while another response is sent on it. */
  readonly socket?: unknown;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  setHeader(name: string, value: string): unknown;
  getHeader?(name: string): unknown;
  flushHeaders?(): void;
  write(chunk: string): boolean;
  end(): unknown;
  end(chunk: string): unknown;
  destroy(): unknown;
  on(event: string, listener: Listener): unknown;
}
