/** The `node:http` face: gives the exchange what it asks for straight from Node's objects, without a `Request` or `Response`. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { BytePieces } from '@mortise/protocol/edge';
import { ArrivingBody } from './arriving-body.ts';
import { decodeBody } from './decode-body.ts';
import { isLoopbackAddress } from './loopback.ts';
import type { BodyLimits, ByteSink, HeaderList, HttpRequest, HttpSink, LeaveListener } from './http-request.ts';
import type { NodePair, NodeRequest, NodeResponse, NodeSocket } from './node-types.ts';
import type { Settings } from './options.ts';
import { enterPipeline, type Pipelined, WATCHED_BYTES } from './pipeline.ts';
import { HttpRefusal, takenBodyRefusal, tooLargeRefusal } from './refusal.ts';

/** Headers that mean one thing: a second line could make two readers disagree. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'last-event-id',
]);
const MAX_HEADERS = 200;
/** How long a refused body is read on and thrown away, so that the client sees the refusal and not a broken connection. */
const LINGER_MS = 1000;
/** How much of it: who sends on and on makes the server read no more. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;
/** The longest time that Node takes for a socket. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export class NodeFaceRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly mountPath: string;
  readonly auth: AuthInfo | undefined;
  readonly parsedBody: unknown;
  readonly #request: NodeRequest;
  /** Where the target is a whole URL: the ways to write its host, in lower case. */
  readonly #targetAuthorities: readonly string[] | undefined;

  constructor(request: NodeRequest, auth: AuthInfo | undefined, parsedBody: unknown) {
    this.#request = request;
    this.method = request.method ?? 'GET';
    this.auth = auth;
    this.parsedBody = parsedBody;
    this.mountPath = typeof request.baseUrl === 'string' ? request.baseUrl : '';
    const url = request.url ?? '/';
    if (url.startsWith('/')) {
      this.target = url;
    } else {
      const absolute = URL.canParse(url) ? new URL(url) : undefined;
      this.target = absolute === undefined ? url : absolute.pathname + absolute.search;
      this.#targetAuthorities = absolute === undefined ? [] : toAuthorities(absolute);
    }
  }

  get scheme(): 'http' | 'https' {
    return this.#request.socket?.encrypted === true ? 'https' : 'http';
  }

  get authority(): string | undefined {
    const host = this.header('host') ?? this.header(':authority');
    const inTarget = this.#targetAuthorities;
    return inTarget === undefined || (host !== undefined && inTarget.includes(host.toLowerCase())) ? host : undefined;
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket?.remoteAddress;
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
    // Node drops or joins what came twice, so only what came over the wire tells.
    const names: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]?.toLowerCase() ?? '';
      if (!SINGLE_HEADERS.has(name) && !name.startsWith('mcp-')) continue;
      if (names.includes(name)) return name;
      names.push(name);
    }
    return undefined;
  }

  readBody(limits: BodyLimits): Promise<string> {
    const declared = Number(this.header('content-length') ?? 0);
    if (declared > limits.maxBytes) return Promise.reject(tooLargeRefusal(limits.maxBytes, true));
    if (this.#request.readableEnded) return Promise.reject(takenBodyRefusal());
    return new Promise((resolve, reject) => new BodyReader(this.#request, limits, { resolve, reject }));
  }
}

/** The port that a scheme implies may be written or not. */
function toAuthorities({ host, port, protocol }: URL): readonly string[] {
  return port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host];
}

interface Settle {
  resolve(text: string): void;
  reject(error: Error): void;
}

/** Reads one body. Once it has settled it goes on throwing away what comes, so that the connection is not stuck. */
class BodyReader extends ArrivingBody {
  readonly #settle: Settle;
  readonly #pieces: BytePieces = new BytePieces();
  #isDone = false;

  constructor(request: NodeRequest, limits: BodyLimits, settle: Settle) {
    super(limits, true);
    this.#settle = settle;
    request.on('data', this.#onData);
    request.on('end', this.#onEnd);
    request.on('error', this.#onBreak);
    request.on('close', this.#onBreak);
    limits.watch.add(this);
  }

  protected override fail(refusal: HttpRefusal): void {
    this.#finish();
    this.#pieces.clear();
    this.#settle.reject(refusal);
  }

  readonly #onData = (chunk: Uint8Array): void => {
    if (this.#isDone) return;
    this.#pieces.push(chunk);
    const refusal = this.check(this.#pieces.length);
    if (refusal !== undefined) this.fail(refusal);
  };

  readonly #onEnd = (): void => {
    if (this.#isDone) return;
    this.#finish();
    try {
      this.#settle.resolve(decodeBody(this.#pieces.join()));
    } catch (error) {
      this.#settle.reject(error as Error);
    }
  };

  readonly #onBreak = (): void => {
    if (!this.#isDone) this.break();
  };

  #finish(): void {
    this.#isDone = true;
    this.limits.watch.delete(this);
  }
}

const { Buffer } = globalThis as { readonly Buffer?: { byteLength(text: string): number } };

/** Told by Node's own function, where there is one: this entry needs no Node types. */
function byteLength(text: string): number {
  return Buffer === undefined ? new TextEncoder().encode(text).length : Buffer.byteLength(text);
}

export class NodeFaceSink implements HttpSink, Pipelined {
  leaver: LeaveListener | undefined;
  /** Resolves when the request is to be served, or its client has left; undefined where that is now. */
  readonly turn: Promise<void> | undefined;
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;
  /** How long a client may take nothing of an answer before its connection is cut. */
  readonly #stallMs: number;
  #hasLeft = false;
  #isComplete = false;
  #resolveTurn: (() => void) | undefined;

  constructor({ request, response }: NodePair, { stallMs, clock }: Pick<Settings, 'stallMs' | 'clock'>) {
    this.#stallMs = Math.min(stallMs, MAX_TIMEOUT_MS);
    this.#request = request;
    this.#response = response;
    response.on('close', this.#onClose);
    // A peer that vanishes while something is written makes Node report an error here, which means no more than 'close' does.
    response.on('error', ignore);
    // The connection has no place for it yet: the answer to an earlier request of the same connection is not out.
    // A bridge from another kind of request may have no connection at all.
    if (response.socket === null && request.socket && !response.writableFinished) this.turn = this.#waitForTurn(request.socket, clock);
  }

  onTurn(): void {
    this.#resolveTurn?.();
  }

  /** Node tells only the response that holds the connection. */
  onLost(): void {
    this.#onClose();
    this.#resolveTurn?.();
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  respond(status: number, headers: HeaderList, body?: string): void {
    if (this.#hasLeft) return;
    this.#isComplete = true;
    if (!this.#respondAtOnce(status, headers, body)) {
      this.#writeHead(status, headers);
      if (headers.includes('close')) this.#lingerOver(body ?? '');
      else if (body === undefined) this.#response.end();
      else this.#response.end(body);
    }
    boundDrain(this.#response, this.#stallMs);
  }

  stream(status: number, headers: HeaderList): ByteSink {
    if (!this.#hasLeft) {
      this.#writeHead(status, headers);
      this.#response.flushHeaders?.();
    }
    return new NodeByteSink(this.#response, this.#stallMs, () => (this.#isComplete = true));
  }

  /** Nearly every answer: one header and a text. Node takes them together for half of what it takes them one by one for. */
  #respondAtOnce(status: number, [name, value, ...others]: HeaderList, body: string | undefined): boolean {
    if (name === undefined || value === undefined || others.length > 0 || body === undefined) return false;
    this.#response.writeHead(status, { [name]: value, 'Content-Length': byteLength(body) });
    this.#response.end(body);
    return true;
  }

  #writeHead(status: number, headers: HeaderList): void {
    const response = this.#response;
    response.statusCode = status;
    for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
  }

  /** The whole answer is out at once; its end, which closes the connection, waits until the client has sent on for a while. */
  #lingerOver(body: string): void {
    const response = this.#response;
    response.setHeader('Content-Length', String(byteLength(body)));
    response.write(body);
    let discarded = 0;
    this.#request.on('data', (chunk: Uint8Array) => {
      discarded += chunk.length;
      if (discarded > MAX_DISCARDED_BYTES) this.#request.pause();
    });
    this.#request.resume();
    const timer = setTimeout(() => response.end(), LINGER_MS);
    this.#request.on('end', () => {
      clearTimeout(timer);
      response.end();
    });
    response.on('close', () => clearTimeout(timer));
  }

  #waitForTurn(socket: NodeSocket, clock: Clock): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveTurn = resolve;
      enterPipeline(this, this.#response, { socket, stallMs: this.#stallMs, clock });
    });
  }

  readonly #onClose = (): void => {
    if (this.#hasLeft || (this.#isComplete && this.#response.writableFinished)) return;
    this.#hasLeft = true;
    this.leaver?.onLeave();
  };
}

class NodeByteSink implements ByteSink {
  readonly #response: NodeResponse;
  readonly #stallMs: number;
  readonly #onEnd: () => void;

  constructor(response: NodeResponse, stallMs: number, onEnd: () => void) {
    this.#response = response;
    this.#stallMs = stallMs;
    this.#onEnd = onEnd;
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  /** Node counts a text until all of it is out. What it uses itself to see whether a socket stalls tells how far it has got. */
  get untaken(): number {
    const { socket, writableLength } = this.#response;
    return writableLength + queueSizeOf(socket);
  }

  set onDrain(fn: (() => void) | undefined) {
    if (fn !== undefined) this.#response.on('drain', fn);
  }

  write(text: string): boolean {
    return this.#response.write(text);
  }

  end(): void {
    this.#onEnd();
    this.#response.end();
    boundDrain(this.#response, this.#stallMs);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

function queueSizeOf(socket: NodeSocket | null | undefined): number {
  try {
    const handle = socket?._handle;
    return (handle?._parent ?? handle)?.writeQueueSize ?? 0;
  } catch {
    // That of HTTP/2 throws once its connection is gone.
    return 0;
  }
}

/**
 * Cuts a connection whose client takes nothing of what was written for a while. Node's own timer of the socket is the one that sees a
 * long write get on, so it is lent for as long as the answer is not out.
 */
function boundDrain(response: NodeResponse, stallMs: number): void {
  // Right after a write its text still counts, so that nearly every answer would be watched for nothing.
  if (response.writableLength < WATCHED_BYTES) return;
  const arm = (socket: NodeSocket): void => {
    const timeoutBefore = socket.timeout ?? 0;
    socket.setTimeout?.(stallMs);
    // Before Node's own, which may go on with the next answer, or wait for the next request with a time of its own.
    response.prependListener?.('finish', () => void socket.setTimeout?.(timeoutBefore));
  };
  // Over TLS, Node's timer does not see it.
  let untaken = response.socket?.encrypted === true ? Infinity : 0;
  response.on('timeout', () => {
    const before = untaken;
    untaken = queueSizeOf(response.socket);
    if (untaken < before) response.socket?.setTimeout?.(stallMs);
    else response.destroy();
  });
  // An answer that waits for the one before it has no socket yet.
  if (response.socket) arm(response.socket);
  else response.on('socket', arm);
}

function ignore(): void {
  // Nothing to do: see where it is used.
}
