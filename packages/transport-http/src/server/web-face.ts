/** The `fetch` face: a web `Request` in, a web `Response` out, for Bun, Deno, Workers and every framework that speaks them. */

import type { AuthInfo } from '@mortise/protocol/contracts';
import type { BodyLimits, ByteSink, HeaderList, HttpRequest, HttpSink, WatchedBody } from './http-request.ts';
import { joinChunks } from './join-chunks.ts';
import { HttpRefusal } from './refusal.ts';

/** What only the platform around a `Request` knows. */
export interface FetchInfo {
  /** The peer's address, which limits of anonymous callers go by. */
  readonly remoteAddress?: string | undefined;
  /** Whether the socket is bound to loopback. Left out, only loopback names and `allowedHosts` are served. */
  readonly isLoopback?: boolean | undefined;
  /** What a framework in front has verified about the caller. */
  readonly auth?: AuthInfo | undefined;
  /** The body, where a framework in front has parsed it already. */
  readonly parsedBody?: unknown;
}

/** `Headers` joins lines of one name by a comma, so a comma in what cannot have one means that there were two. */
const NO_COMMA = [
  'host',
  'origin',
  'authorization',
  'content-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'last-event-id',
];
const MAX_HEADER_LENGTH = 16 * 1024;

export class WebFaceRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly mountPath: string = '';
  readonly scheme: 'http' | 'https';
  readonly authority: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly isLoopback: boolean | undefined;
  readonly auth: AuthInfo | undefined;
  readonly parsedBody: unknown;
  readonly #request: Request;

  constructor(request: Request, info: FetchInfo) {
    this.#request = request;
    this.method = request.method;
    const url = new URL(request.url);
    this.target = url.pathname + url.search;
    this.scheme = url.protocol === 'https:' ? 'https' : 'http';
    this.authority = request.headers.get('host') ?? url.host;
    this.remoteAddress = info.remoteAddress;
    this.isLoopback = info.isLoopback;
    this.auth = info.auth;
    this.parsedBody = info.parsedBody;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /** Walking all headers makes platforms sort them, so only those that mean something here are looked at. */
  findDuplicateHeader(): string | undefined {
    const { headers } = this.#request;
    for (const name of NO_COMMA) {
      const value = headers.get(name);
      if (value === null) continue;
      if (value.length > MAX_HEADER_LENGTH)
        throw new HttpRefusal(431, `The header "${name}" is longer than ${MAX_HEADER_LENGTH} characters`);
      if (value.includes(',')) return name;
    }
    return undefined;
  }

  async readBody(limits: BodyLimits): Promise<string> {
    const declared = this.header('content-length');
    if (declared !== undefined && Number(declared) > limits.maxBytes) throw tooLarge(limits.maxBytes);
    // A platform holds a body to the length that it announces, so that one is read at once.
    const read = declared === undefined ? this.#readPieces(limits.maxBytes) : this.#readWhole(limits.maxBytes);
    return new Promise<string>((resolve, reject) => {
      const reading: WatchedBody = {
        startedAtMs: performance.now(),
        timeoutMs: limits.timeoutMs,
        onTimeout: () => reject(new HttpRefusal(408, 'The body took too long to arrive')),
      };
      limits.watch.add(reading);
      const finish = (): void => limits.watch.delete(reading);
      read
        .then(resolve, (error: unknown) => reject(error instanceof HttpRefusal ? error : new HttpRefusal(400, 'The body ended early')))
        .finally(finish);
    });
  }

  async #readWhole(maxBytes: number): Promise<string> {
    const bytes = new Uint8Array(await this.#request.arrayBuffer());
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    return joinChunks([bytes], bytes.length);
  }

  async #readPieces(maxBytes: number): Promise<string> {
    const reader = this.#request.body?.getReader();
    if (reader === undefined) return '';
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      length += piece.value.length;
      if (length > maxBytes) {
        reader.cancel().catch(() => undefined);
        throw tooLarge(maxBytes);
      }
      chunks.push(piece.value);
    }
    return joinChunks(chunks, length);
  }
}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, `The body is longer than ${maxBytes} bytes`);
}

/** Makes the `Response`. */
export class WebFaceSink implements HttpSink {
  onLeave: (() => void) | undefined;
  readonly response: Promise<Response>;
  readonly #signal: AbortSignal;
  #resolve: (response: Response) => void = () => undefined;
  #hasLeft: boolean;
  #hasAnswered = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#hasLeft = signal.aborted;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
    signal.addEventListener('abort', this.#leave);
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  respond(status: number, headers: HeaderList, body?: string): void {
    this.#hasAnswered = true;
    this.#complete();
    this.#resolve(new Response(body ?? null, { status, headers: toHeaders(headers) }));
  }

  stream(status: number, headers: HeaderList): ByteSink {
    this.#hasAnswered = true;
    const bytes = new WebByteSink(this.#leave, () => this.#complete());
    this.#resolve(new Response(bytes.readable, { status, headers: toHeaders(headers) }));
    return bytes;
  }

  /** The exchange is over and nothing was answered, because nobody is there: a platform still wants a `Response`. */
  settle(): void {
    if (!this.#hasAnswered) this.respond(499, []);
  }

  #complete(): void {
    this.#signal.removeEventListener('abort', this.#leave);
  }

  readonly #leave = (): void => {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#complete();
    this.onLeave?.();
  };
}

const encoder = new TextEncoder();

class WebByteSink implements ByteSink {
  readonly readable: ReadableStream<Uint8Array>;
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
        pull: () => this.onDrain?.(),
        cancel: () => {
          this.#controller = undefined;
          onCancel();
        },
      },
      { highWaterMark: 0, size: (chunk) => chunk?.length ?? 0 },
    );
  }

  get queuedBytes(): number {
    return -(this.#controller?.desiredSize ?? 0);
  }

  write(text: string): void {
    this.#controller?.enqueue(encoder.encode(text));
  }

  end(): void {
    this.#onEnd();
    this.#controller?.close();
    this.#controller = undefined;
  }

  destroy(): void {
    this.#onEnd();
    this.#controller?.error(new Error('The stream was cut'));
    this.#controller = undefined;
  }
}

function toHeaders(list: HeaderList): Headers {
  const headers = new Headers();
  for (let at = 0; at < list.length; at += 2) headers.append(list[at] ?? '', list[at + 1] ?? '');
  return headers;
}
