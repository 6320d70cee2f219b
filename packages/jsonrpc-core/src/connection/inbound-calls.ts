/** The requests that are being served here: each with a readable id gets exactly one answer, or none once it is cancelled. */

import { Cancellation, linkSignals } from '../cancellation.ts';
import { renewMap } from '../collections.ts';
import { CancelledError, ConnectionClosedError, InvalidRequestError, UsageError } from '../errors.ts';
import {
  classifyMessage,
  type JsonObject,
  type JsonRpcErrorObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../message.ts';
import { countBytes } from '../parse-json.ts';
import { serializeMessage } from '../serialize-message.ts';
import { isThenable } from '../thenable.ts';
import { toError } from '../transport/hold-transport.ts';
import { type MessageInfo, resolvedPromise } from '../transport/transport.ts';
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, toWireError } from '../wire-error.ts';
import type { Connection } from './connection.ts';
import { type ConnectionOptions, type ConnectionRules, DEFAULT_RULES } from './connection-options.ts';
import type { RequestOptions, RequestParams } from './pending-request.ts';

/** The answers to one batch, which are sent together once all are there (JSON-RPC 2.0 section 6). */
export interface Batch {
  readonly answers: JsonRpcResponse[];
  /** How many bytes the answers have that are there. */
  bytes: number;
  /** How many answers are still to come; one more while the members of the batch are read. */
  waiting: number;
}

/**
 * One request that is being served. Its `signal` aborts when the peer cancels (with a `CancelledError`) or the connection closes
 * (with a `ConnectionClosedError`).
 */
export class InboundCall extends Cancellation {
  /** The request itself. */
  readonly message: JsonRpcRequest;
  /** What the transport said about the request. */
  readonly info: MessageInfo | undefined;
  /** Where the answer goes if the request came in a batch. */
  readonly batch: Batch | undefined;
  readonly #connection: Connection;
  /** Whether the answer was sent, or is about to be. */
  isAnswered = false;

  constructor(message: JsonRpcRequest, info: MessageInfo | undefined, batch: Batch | undefined, connection: Connection) {
    super();
    this.message = message;
    this.info = info;
    this.batch = batch;
    this.#connection = connection;
  }

  /** True once the call is answered or cancelled: nothing more is sent that belongs to it. */
  get isSettled(): boolean {
    return this.isAnswered || this.isCancelled;
  }

  /** Sends a notification that belongs to this call. Does nothing once the call is settled. */
  notify(method: string, params?: JsonObject): Promise<void> {
    if (this.isSettled) return resolvedPromise;
    return this.#connection.notify(method, params, { relatedRequestId: this.message.id });
  }

  /** Asks the peer something that belongs to this call. Is cancelled together with it. See `Connection.request`. */
  request(method: string, params?: RequestParams, options?: RequestOptions): Promise<JsonObject> {
    const { signal, dispose } = linkSignals(options?.signal, this.signal);
    return this.#connection.request(method, params, { ...options, relatedRequestId: this.message.id, signal }).finally(dispose);
  }

  /** No answer is wanted any more. Does nothing once the call is settled. */
  override cancel(reason: unknown): void {
    if (!this.isSettled) super.cancel(reason);
  }
}

/** One answer, or the answers to a batch. */
type Answer = JsonRpcResponse | readonly JsonRpcResponse[];

/** What serving needs of the inside of its connection. None of these may throw. */
export interface InboundHost {
  /** Hands a message to the transport, unless the connection has ended. */
  send(message: JsonRpcMessage): Promise<void>;
  /** Reports an error that ends nothing. */
  report(error: Error): void;
  /** Called when a call has ended, or the peer has taken an answer that waited. */
  onProgress(): void;
}

/**
 * How many requests are served at once, with those whose answer the peer has not taken yet or that waits for the rest of its batch: far more than
 * honest peers have. Further ones are refused; with twice as many answers unread the connection is closed.
 */
const MAX_IN_FLIGHT = 10_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Serves requests within bounds. */
export class InboundCalls {
  readonly #connection: Connection;
  readonly #options: ConnectionOptions;
  readonly #maxBytes: number;
  readonly #host: InboundHost;
  /** The calls that can still be answered, by id. A cancelled one leaves at once though its handler may still run. */
  #calls = new Map<RequestId, InboundCall>();
  #left = 0;
  #running = 0;
  /** How many answers the peer has not taken yet. */
  #unread = 0;
  #bytes = 0;
  /** How many bytes of answers wait for the rest of their batch. */
  #keptBytes = 0;
  #isDraining = false;

  constructor(connection: Connection, options: ConnectionOptions, host: InboundHost) {
    this.#connection = connection;
    this.#options = options;
    this.#maxBytes = options.maxInFlightBytes ?? DEFAULT_MAX_BYTES;
    this.#host = host;
  }

  get #rules(): ConnectionRules {
    return this.#options.rules ?? DEFAULT_RULES;
  }

  /** How many handlers run, and answers wait for the rest of their batch. */
  get running(): number {
    return this.#running;
  }

  /** How many bytes the requests have whose handlers run, where the transport measures them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether no handler runs and every answer is taken. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#unread === 0;
  }

  /** From now on every request is refused. */
  refuseNew(): void {
    this.#isDraining = true;
  }

  serve(request: JsonRpcRequest, info: MessageInfo | undefined, batch: Batch | undefined): void {
    if (!this.#rules.isAnswering) {
      const message = `The peer sent the request "${request.method.slice(0, 100)}", which is not allowed now: it was dropped`;
      return this.#host.report(new InvalidRequestError(message, INVALID_REQUEST, request.id));
    }
    const refusal = this.#findRefusal(request, info);
    if (refusal) return this.refuse(refusal, request.id, batch);
    const call = new InboundCall(request, info, batch, this.#connection);
    if (batch) batch.waiting++;
    this.#calls.set(request.id, call);
    this.#running++;
    this.#bytes += info?.bytes ?? 0;
    this.#run(call);
  }

  /** Answers with an error what is not served; without an id where none could be read. */
  refuse(error: JsonRpcErrorObject, id: RequestId | undefined, batch: Batch | undefined): void {
    if (!this.#rules.isAnswering) return;
    if (batch) batch.waiting++;
    const hasNoId = id === undefined && this.#rules.isErrorIdOptional;
    const response: JsonRpcResponse = hasNoId ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id: id ?? null, error };
    if (batch) this.#keep(response, batch);
    else this.#send(response);
  }

  /** Cancels the call that a notification names. False if it names none that is being served. */
  cancel(id: RequestId, reason: unknown): boolean {
    const call = this.#calls.get(id);
    if (!call) return false;
    this.#forget(id);
    this.#abort(call, new CancelledError(typeof reason === 'string' ? reason : undefined));
    if (call.batch) this.leaveBatch(call.batch);
    return true;
  }

  /** Aborts every call; none will be answered. */
  abortAll(reason: Error): void {
    const calls = this.#calls;
    this.#calls = new Map();
    for (const call of calls.values()) {
      this.#abort(call, reason);
      if (call.batch) this.#dropKept(call.batch);
    }
  }

  #findRefusal(request: JsonRpcRequest, info: MessageInfo | undefined): JsonRpcErrorObject | undefined {
    if (this.#calls.has(request.id)) {
      return { code: INVALID_REQUEST, message: 'A request with this id is still being served: use a new id' };
    }
    if (!this.#options.onRequest) return { code: METHOD_NOT_FOUND, message: `Method not found: ${request.method.slice(0, 100)}` };
    if (this.#isDraining) return { code: INTERNAL_ERROR, message: 'Shutting down: no new requests are taken' };
    if (this.#running + this.#unread >= MAX_IN_FLIGHT) {
      return { code: INTERNAL_ERROR, message: `Too many requests at once (${MAX_IN_FLIGHT}): wait for answers, then send again` };
    }
    const inFlight = this.#bytes + this.#keptBytes + (info?.unreadBytes ?? 0);
    if (inFlight === 0 || inFlight + (info?.bytes ?? 0) <= this.#maxBytes) return undefined;
    const message = `Too many bytes of requests and unread answers at once (maxInFlightBytes is ${this.#maxBytes} here): wait for answers and take them, then send again`;
    return { code: INTERNAL_ERROR, message };
  }

  #run(call: InboundCall): void {
    try {
      const outcome = this.#options.onRequest?.(call.message, call);
      if (isThenable(outcome)) {
        // A thenable that is no promise of the platform might settle twice.
        Promise.resolve(outcome).then(
          (response) => this.#end(call, response),
          (error: unknown) => this.#endFailed(call, error),
        );
      } else this.#end(call, outcome);
    } catch (error) {
      this.#endFailed(call, error);
    }
  }

  #end(call: InboundCall, response: JsonRpcResponse | undefined): void {
    if (call.isCancelled || isAnswerTo(response, call.message.id)) return this.#finish(call, response);
    this.#endFailed(
      call,
      new UsageError('ERR_SERIALIZE', `The handler of "${call.message.method}" gave back what is not an answer to its request`),
    );
  }

  #endFailed(call: InboundCall, error: unknown): void {
    // A handler that was cancelled mostly stops by throwing.
    if (call.isSettled) return this.#finish(call, undefined);
    const wireError = toWireError(error);
    if (wireError.code === INTERNAL_ERROR) this.#host.report(toError(error));
    this.#finish(call, { jsonrpc: '2.0', id: call.message.id, error: wireError });
  }

  #finish(call: InboundCall, response: JsonRpcResponse | undefined): void {
    this.#running--;
    this.#bytes -= call.info?.bytes ?? 0;
    if (!call.isSettled && response) {
      this.#forget(call.message.id);
      call.isAnswered = true;
      if (call.batch) this.#keep(response, call.batch);
      else this.#send(response);
    }
    this.#host.onProgress();
  }

  #forget(id: RequestId): void {
    this.#calls.delete(id);
    this.#calls = renewMap(this.#calls, ++this.#left);
  }

  /** A listener of a signal may throw in platforms that do not report it themselves. */
  #abort(call: InboundCall, reason: Error): void {
    try {
      call.cancel(reason);
    } catch (error) {
      this.#host.report(toError(error));
    }
  }

  // ---- answers

  /** Counts one answer of a batch as done, sent or not, and sends the batch after the last one. Called once more when every member has been read. */
  leaveBatch(batch: Batch): void {
    batch.waiting--;
    // Nothing at all is sent for a batch without answers, not even an empty array.
    if (batch.waiting > 0 || batch.answers.length === 0) return;
    this.#running -= batch.answers.length;
    this.#keptBytes -= batch.bytes;
    this.#send(batch.answers);
    this.#host.onProgress();
  }

  /** Keeps an answer until the others of its batch are there. */
  #keep(response: JsonRpcResponse, batch: Batch): void {
    const bytes = countBytes(tryToSerialize(response) ?? '');
    this.#running++;
    this.#keptBytes += bytes;
    batch.bytes += bytes;
    batch.answers.push(response);
    this.leaveBatch(batch);
  }

  /** The rest of the batch will not come, so what was kept for it is not sent. */
  #dropKept(batch: Batch): void {
    this.#running -= batch.answers.length;
    this.#keptBytes -= batch.bytes;
    batch.answers.length = 0;
    batch.bytes = 0;
  }

  #send(answer: Answer): void {
    // A batch reaches only a transport whose peer sent one; see the note at `Transport.send`.
    const sent = this.#host.send(answer as JsonRpcResponse);
    if (sent === resolvedPromise) return;
    this.#unread++;
    sent.then(
      () => this.#onTaken(),
      (error: unknown) => {
        this.#onTaken();
        if (!(error instanceof ConnectionClosedError)) this.#host.report(toError(error));
        const sendable = toSendable(answer);
        if (sendable !== answer) this.#send(sendable);
      },
    );
    // Sends that wait hold their messages.
    if (this.#unread > 2 * MAX_IN_FLIGHT) {
      this.#host.report(new ConnectionClosedError('The peer does not read its answers: the connection was closed'));
      void this.#connection.close();
    }
  }

  #onTaken(): void {
    this.#unread--;
    this.#host.onProgress();
  }
}

function isAnswerTo(response: unknown, id: RequestId): response is JsonRpcResponse {
  try {
    return classifyMessage(response) === 'response' && (response as JsonRpcResponse).id === id;
  } catch {
    return false;
  }
}

/** Replaces what JSON cannot carry by -32603, so that its request is answered all the same. The same answer if nothing is wrong with it. */
function toSendable(answer: Answer): Answer {
  if (tryToSerialize(answer) !== undefined) return answer;
  if (Array.isArray(answer)) return (answer as readonly JsonRpcResponse[]).map((response) => toSendable(response) as JsonRpcResponse);
  const { id } = answer as JsonRpcResponse;
  return { jsonrpc: '2.0', id: id as RequestId, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
}

function tryToSerialize(answer: Answer): string | undefined {
  try {
    return serializeMessage(answer);
  } catch {
    return undefined;
  }
}
