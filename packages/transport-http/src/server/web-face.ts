/** The `fetch` face: a web `Request` in, a web `Response` out, for Bun, Deno, Workers and every framework that speaks them. */

import type { AuthInfo } from '@mortise/protocol/contracts';
import { BytePieces } from '@mortise/protocol/edge';
import { ArrivingBody } from './arriving-body.ts';
import { decodeBody } from './decode-body.ts';
import type { BodyLimits, ByteSink, HeaderList, HttpRequest, HttpSink, LeaveListener } from './http-request.ts';
import { HttpRefusal, takenBodyRefusal, tooLargeRefusal } from './refusal.ts';
import { toAuthInfo } from './to-auth-info.ts';

/** What only the platform around a `Request` knows. */
export interface FetchInfo {
  /** The peer's address, which limits of anonymous callers go by. @default unknown: all count as one */
  readonly remoteAddress?: string | undefined;
  /** Whether the socket is bound to loopback. Left out, only loopback names and `allowedHosts` are served. @default unknown */
  readonly isLoopback?: boolean | undefined;
  /** What a framework in front has verified about the caller. @default nothing */
  readonly auth?: AuthInfo | undefined;
  /** The body, where a framework in front has parsed it already. @default it is read */
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
const SHORT_BYTES = 64 * 1024;

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
  /** What `findDuplicateHeader` has read, in the order of `NO_COMMA`: on some platforms reading a header is slow. */
  #known: readonly (string | null)[] | undefined;

  constructor(request: Request, info: FetchInfo) {
    this.#request = request;
    this.method = request.method;
    const { scheme, host, target } = splitUrl(request.url);
    this.target = target;
    this.scheme = scheme;
    this.authority = request.headers.get('host') ?? host;
    this.remoteAddress = info.remoteAddress;
    this.isLoopback = info.isLoopback;
    this.auth = toAuthInfo(info.auth);
    this.parsedBody = info.parsedBody;
  }

  header(name: string): string | undefined {
    const at = this.#known === undefined ? -1 : NO_COMMA.indexOf(name);
    return (at === -1 ? this.#request.headers.get(name) : this.#known?.[at]) ?? undefined;
  }

  /** Walking all headers makes platforms sort them, so only those that mean something here are looked at. */
  findDuplicateHeader(): string | undefined {
    const { headers } = this.#request;
    const known: (string | null)[] = [];
    for (const name of NO_COMMA) {
      const value = headers.get(name);
      known.push(value);
      if (value === null) continue;
      if (value.length > MAX_HEADER_LENGTH)
        throw new HttpRefusal(431, `The header "${name}" is longer than ${MAX_HEADER_LENGTH} characters`);
      if (value.includes(',')) return name;
    }
    this.#known = known;
    return undefined;
  }

  readBody(limits: BodyLimits): Promise<string> {
    const declared = this.header('content-length');
    if (declared !== undefined && Number(declared) > limits.maxBytes) return Promise.reject(tooLargeRefusal(limits.maxBytes, false));
    if (this.#request.bodyUsed) return Promise.reject(takenBodyRefusal());
    // A platform holds a body to the length that it announces, so that one can be read at once.
    const isAtOnce = declared !== undefined && (Number(declared) <= SHORT_BYTES || isLight(this.#request));
    if (isAtOnce) return new WebBody(limits, (body) => this.#readAtOnce(body, Number(declared)), undefined).text;
    const reader = this.#request.body?.getReader();
    return reader === undefined ? Promise.resolve('') : new WebBody(limits, (body) => readPieces(body, reader), reader).text;
  }

  async #readAtOnce(body: WebBody, declaredBytes: number): Promise<string> {
    body.hold(declaredBytes);
    const bytes = new Uint8Array(await this.#request.arrayBuffer());
    body.hold(bytes.length);
    return decodeBody(bytes);
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

async function readPieces(body: WebBody, reader: BodyReader): Promise<string> {
  const pieces = new BytePieces();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    body.hold(pieces.length);
  }
  return decodeBody(pieces.join());
}

/** Nobody reads on: the platform need not either. */
function cancel(reader: BodyReader | undefined): void {
  reader?.cancel().catch(() => undefined);
}

/**
 * Whether an adapter made the request: one that knows Node's objects (Hono's is one) has a short way to the whole body, and builds the platform's
 * request, with its streams, once pieces are asked for. The platform's own copies a long body twice that is asked for as a whole.
 */
function isLight(request: Request): boolean {
  return Object.getPrototypeOf(request) !== Request.prototype;
}

/** The text of a body, or why it cannot be had in time. */
class WebBody extends ArrivingBody {
  readonly text: Promise<string>;
  readonly #reader: BodyReader | undefined;
  #reject: (refusal: HttpRefusal) => void = () => undefined;

  /** @param reader Where the body is read in pieces: it is let go of when time is up, or when there is too much. */
  constructor(limits: BodyLimits, read: (body: WebBody) => Promise<string>, reader: BodyReader | undefined) {
    super(limits, false);
    const { watch } = limits;
    this.#reader = reader;
    this.text = new Promise((resolve, reject) => {
      this.#reject = reject;
      read(this).then(
        (text) => {
          watch.delete(this);
          resolve(text);
        },
        (error: unknown) => {
          watch.delete(this);
          if (error instanceof HttpRefusal) reject(error);
          else this.break();
        },
      );
    });
    watch.add(this);
  }

  /** @param bytes All that has come of it. @throws {HttpRefusal} What `check` gives: it is read no further. */
  hold(bytes: number): void {
    const refusal = this.check(bytes);
    if (refusal === undefined) return;
    cancel(this.#reader);
    throw refusal;
  }

  protected override fail(refusal: HttpRefusal): void {
    this.#reject(refusal);
    cancel(this.#reader);
  }
}

/** A request's URL has been through a parser already, so that finding its parts needs no second one. */
function splitUrl(url: string): { readonly scheme: 'http' | 'https'; readonly host: string; readonly target: string } {
  const match = /^(https?):\/\/([^/?#@]*)(\/[^#]*)/.exec(url);
  if (match !== null) return { scheme: match[1] === 'https' ? 'https' : 'http', host: match[2] ?? '', target: match[3] ?? '' };
  const { protocol, host, pathname, search } = new URL(url);
  return { scheme: protocol === 'https:' ? 'https' : 'http', host, target: pathname + search };
}

/** Makes the `Response`. */
export class WebFaceSink implements HttpSink {
  leaver: LeaveListener | undefined;
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
    this.leaver?.onLeave();
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

  get untaken(): number {
    return this.queuedBytes;
  }

  write(text: string): boolean {
    this.#controller?.enqueue(encoder.encode(text));
    // Each pull tells.
    return false;
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

function toHeaders(list: HeaderList): Record<string, string> | [string, string][] {
  const [name = '', value = ''] = list;
  if (list.length === 2) return { [name]: value };
  const pairs: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? '', list[at + 1] ?? '']);
  return pairs;
}
