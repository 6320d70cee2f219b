/** `WebExchange`: an HTTP exchange on web `Request` and `Response`, for Bun, Deno, Workers and web frameworks. */

import type { AuthInfo } from '@mortise/protocol/contracts';
import type { SharedState } from './shared-state.ts';
import { type HeaderList, HttpRefusal } from './refusal.ts';
import { HttpExchange, SINGLE_HEADERS, takenBody } from './http-exchange.ts';
import type { BodyReader } from './read-body.ts';
import type { ByteSink } from './response-stream.ts';

/** What the platform or framework knows about a `Request`. */
export interface FetchInfo {
  /** The client's address, by which anonymous callers are limited. @default unknown: all anonymous callers share one limit */
  readonly remoteAddress?: string | undefined;
  /** Whether the socket is bound to loopback. If unknown, only loopback hosts and `allowedHosts` are accepted. @default unknown */
  readonly isLoopback?: boolean | undefined;
  /** `Access-Control-Allow-Origin`, if a middleware of the program has set it for the response: that origin may call. @default none */
  readonly allowedOrigin?: string | undefined;
  /** The authenticated caller, if a framework has verified it. @default none */
  readonly auth?: AuthInfo | undefined;
  /** The parsed body, if a framework has already read it. @default read from the request */
  readonly parsedBody?: unknown;
}

const MAX_HEADER_LENGTH = 16 * 1024;
/**
 * A body up to this `Content-Length` is read as a whole, which costs a web framework on Node half as much as reading it in pieces. HTTP ends a body
 * at its `Content-Length`, so no client can send more. A body with a `Content-Encoding` may be longer, because a framework may have decoded it.
 */
const SHORT_BYTES = 64 * 1024;

export class WebExchange extends HttpExchange {
  readonly method: string;
  readonly target: string;
  readonly mountPath: string = '';
  readonly scheme: 'http' | 'https';
  readonly authority: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly isLoopback: boolean | undefined;
  readonly givenOrigin: string | undefined;
  readonly response: Promise<Response>;
  readonly #request: Request;
  #resolve: (response: Response) => void = () => undefined;

  constructor(shared: SharedState, request: Request, info: FetchInfo) {
    super(shared, info);
    this.#request = request;
    this.method = request.method;
    const url = splitUrl(request.url);
    this.target = url.target;
    this.scheme = url.scheme;
    this.authority = request.headers.get('host') ?? url.host;
    this.remoteAddress = info.remoteAddress;
    this.isLoopback = info.isLoopback;
    this.givenOrigin = info.allowedOrigin;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
    if (request.signal.aborted) this.leave();
    else request.signal.addEventListener('abort', this.#onAbort);
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /**
   * Finds a repeated header: `Headers` joins the values by a comma. Checks only headers that are not compared with the body later (a joined value
   * would differ from it), because iterating over all sorts them.
   */
  findDuplicateHeader(): string | undefined {
    for (const name of SINGLE_HEADERS) {
      const value = this.header(name);
      if (value === undefined) continue;
      if (value.length > MAX_HEADER_LENGTH)
        throw new HttpRefusal(431, `The header "${name}" is longer than ${MAX_HEADER_LENGTH} characters`);
      // Only an event id may contain a comma.
      if (value.includes(',') && name !== 'last-event-id') return name;
    }
    return undefined;
  }

  protected feed(reader: BodyReader): void {
    if (this.#request.bodyUsed) return reader.refuse(takenBody());
    const length = this.header('content-encoding') === undefined ? this.header('content-length') : undefined;
    const isShort = Number(length || Number.NaN) <= SHORT_BYTES;
    (isShort ? this.#readWhole(reader) : this.#readPieces(reader)).then(reader.end, reader.fail);
  }

  async #readWhole(reader: BodyReader): Promise<void> {
    reader.push(new Uint8Array(await this.#request.arrayBuffer()));
  }

  async #readPieces(reader: BodyReader): Promise<void> {
    const source = this.#request.body?.getReader();
    // Lets the platform stop reading too.
    reader.onRefused = () => void source?.cancel().catch(() => undefined);
    for (let piece = await source?.read(); piece?.done === false; piece = await source?.read()) reader.push(piece.value);
  }

  /** Sends a complete response. Ignores `closes`, because the platform decides when to close the connection. */
  protected respond(status: number, headers: HeaderList, body?: string): void {
    this.#stopListening();
    this.#resolve(new Response(body ?? null, { status, headers: toHeaders(headers) }));
  }

  protected startStream(status: number, headers: HeaderList): ByteSink {
    const sink = new WebSink(this.#onAbort, this.#stopListening);
    this.#resolve(new Response(sink.readable, { status, headers: toHeaders(headers) }));
    return sink;
  }

  /** Called when the request is handled. Responds even if the client has left, because the platform needs a `Response`. */
  settle(): void {
    if (!this.hasAnswered) this.respond(499, []);
  }

  readonly #stopListening = (): void => this.#request.signal.removeEventListener('abort', this.#onAbort);

  readonly #onAbort = (): void => {
    this.#stopListening();
    this.leave();
  };
}

/** Splits a URL without `new URL`, because `Request` has already parsed it. */
function splitUrl(url: string): { readonly scheme: 'http' | 'https'; readonly host: string; readonly target: string } {
  const match = /^(https?):\/\/([^/?#@]*)(\/[^#]*)/.exec(url);
  if (match !== null) return { scheme: match[1] === 'https' ? 'https' : 'http', host: match[2] ?? '', target: match[3] ?? '' };
  const { protocol, host, pathname, search } = new URL(url);
  return { scheme: protocol === 'https:' ? 'https' : 'http', host, target: pathname + search };
}

const encoder = new TextEncoder();

class WebSink implements ByteSink {
  readonly readable: ReadableStream<Uint8Array>;
  /** Kept here, because the stream's own count is slow to read. */
  queuedBytes = 0;
  onDrain: (() => void) | undefined;
  readonly #onEnd: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(onCancel: () => void, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.queuedBytes = 0;
          this.onDrain?.();
        },
        cancel: () => {
          this.#controller = undefined;
          onCancel();
        },
      },
      // One byte, so that `pull` is called each time the reader has taken everything.
      { highWaterMark: 1, size: (chunk) => chunk?.length ?? 0 },
    );
  }

  write(text: string): boolean {
    this.#controller?.enqueue(encoder.encode(text));
    this.queuedBytes = 1 - (this.#controller?.desiredSize ?? 1);
    return this.queuedBytes === 0;
  }

  end(): void {
    this.#onEnd();
    this.#controller?.close();
    this.#controller = undefined;
  }

  destroy(): void {
    this.#onEnd();
    this.#controller?.error(new Error('The server aborted the response before its end'));
    this.#controller = undefined;
  }
}

function toHeaders(list: HeaderList): Record<string, string> | [string, string][] {
  const [name = '', value = ''] = list;
  if (list.length === 2) return { [name]: value };
  const pairs: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? '', list[at + 1] ?? '']);
  return pairs;
}
