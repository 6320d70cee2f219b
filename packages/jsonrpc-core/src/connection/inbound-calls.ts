/** The requests of the peer that are being served. Each one with a readable id gets exactly one response, or none once it is cancelled. */

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
  toErrorResponse,
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

/** The responses to one batch, which are sent together when all are ready (JSON-RPC 2.0 section 6). */
export interface Batch {
  readonly answers: JsonRpcResponse[];
  /** How many bytes the responses that are ready have together. */
  bytes: number;
  /** How many responses are not ready, plus one while the batch is being read. */
  waiting: number;
}

/**
 * One request that is being served. Its `signal` aborts with a `CancelledError` when the peer cancels, or with a `ConnectionClosedError`
 * when the connection closes.
 */
export class InboundCall extends Cancellation {
  /** The request message, as it arrived. */
  readonly message: JsonRpcRequest;
  /** What the transport reported about the request, such as its sender and size. */
  readonly info: MessageInfo | undefined;
  /** The batch in which the request arrived, if any. */
  readonly batch: Batch | undefined;
  readonly #connection: Connection;
  /** Whether the response to the request was sent or is about to be. */
  isAnswered = false;

  constructor(message: JsonRpcRequest, info: MessageInfo | undefined, batch: Batch | undefined, connection: Connection) {
    super();
    this.message = message;
    this.info = info;
    this.batch = batch;
    this.#connection = connection;
  }

  /** Whether the request was answered or cancelled. Afterwards nothing more is sent for it. */
  get isSettled(): boolean {
    return this.isAnswered || this.isCancelled;
  }

  /** Sends a notification that belongs to this request. Does nothing once the request was answered or cancelled. */
  notify(method: string, params?: JsonObject): Promise<void> {
    if (this.isSettled) return resolvedPromise;
    return this.#connection.notify(method, params, { relatedRequestId: this.message.id });
  }

  /** Sends a request to the peer that belongs to this request and is cancelled together with it. See `Connection.request`. */
  request(method: string, params?: RequestParams, options?: RequestOptions): Promise<JsonObject> {
    const { signal, dispose } = linkSignals(options?.signal, this.signal);
    return this.#connection.request(method, params, { ...options, relatedRequestId: this.message.id, signal }).finally(dispose);
  }

  /** Cancels the request: no response is sent. Does nothing once the request was answered or cancelled. */
  override cancel(reason: unknown): void {
    if (!this.isSettled) super.cancel(reason);
  }
}

/** One response, or the responses to a batch. */
type Answer = JsonRpcResponse | readonly JsonRpcResponse[];

/** The functions of the connection that `InboundCalls` uses. None of these may throw. */
export interface InboundHost {
  /** Sends a message over the transport, unless the connection has ended. */
  send(message: JsonRpcMessage): Promise<void>;
  /** Reports an error that does not end the connection. */
  report(error: Error): void;
  /** Called when a request has ended, or when the peer has read a queued response. */
  onProgress(): void;
}

/**
 * How many requests of the peer may be in progress at once, including those whose response the peer has not read or that wait for the rest
 * of their batch. Further requests get an error. At twice as many unread responses the connection closes.
 */
const MAX_IN_FLIGHT = 10_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Serves requests within limits on their number and size. */
export class InboundCalls {
  readonly #connection: Connection;
  readonly #options: ConnectionOptions;
  readonly #maxBytes: number;
  readonly #host: InboundHost;
  /** The requests that can still be answered, by id. A cancelled request is removed at once, though its handler may still run. */
  #calls = new Map<RequestId, InboundCall>();
  #left = 0;
  #running = 0;
  /** How many responses the peer has not read yet. */
  #unread = 0;
  #bytes = 0;
  /** How many bytes the responses have that wait for the rest of their batch. */
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

  /** How many handlers are running, plus the responses that wait for the rest of their batch. */
  get running(): number {
    return this.#running;
  }

  /** How many bytes the requests being served have, if the transport measures them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether no handler is running and the peer has read every response. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#unread === 0;
  }

  /** Makes every further request of the peer fail with an error response. */
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

  /** Sends an error response for a message that is not served. Pass no id if the message had no readable one. */
  refuse(error: JsonRpcErrorObject, id: RequestId | undefined, batch: Batch | undefined): void {
    if (!this.#rules.isAnswering) return;
    if (batch) batch.waiting++;
    const response = toErrorResponse(error, id ?? (this.#rules.isErrorIdOptional ? undefined : null));
    if (batch) this.#keep(response, batch);
    else this.#send(response);
  }

  /** Cancels the request with this id, for a cancellation of the peer. Returns false if no such request is being served. */
  cancel(id: RequestId, reason: unknown): boolean {
    const call = this.#calls.get(id);
    if (!call) return false;
    this.#forget(id);
    this.#abort(call, new CancelledError(typeof reason === 'string' ? reason : undefined));
    if (call.batch) this.leaveBatch(call.batch);
    return true;
  }

  /** Aborts every request that is being served. None of them gets a response. */
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
    if (this.#isDraining) return { code: INTERNAL_ERROR, message: 'Shutting down: new requests are not accepted' };
    if (this.#running + this.#unread >= MAX_IN_FLIGHT) {
      return { code: INTERNAL_ERROR, message: `Too many requests at once (${MAX_IN_FLIGHT}): wait for responses, then retry` };
    }
    const inFlight = this.#bytes + this.#keptBytes + (info?.unreadBytes ?? 0);
    if (inFlight === 0 || inFlight + (info?.bytes ?? 0) <= this.#maxBytes) return undefined;
    const message = `Too many bytes of requests and unread responses at once (maxInFlightBytes is ${this.#maxBytes}): read the responses, then retry`;
    return { code: INTERNAL_ERROR, message };
  }

  #run(call: InboundCall): void {
    try {
      const outcome = this.#options.onRequest?.(call.message, call);
      if (isThenable(outcome)) {
        // Wrapped, because a thenable that is not a native promise might settle twice.
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
      new UsageError('ERR_SERIALIZE', `The handler of "${call.message.method}" returned a value that is not a response to its request`),
    );
  }

  #endFailed(call: InboundCall, error: unknown): void {
    // A cancelled handler usually throws. Its error is not sent.
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

  /** Cancels a request, and reports errors thrown by abort listeners, because some platforms do not. */
  #abort(call: InboundCall, reason: Error): void {
    try {
      call.cancel(reason);
    } catch (error) {
      this.#host.report(toError(error));
    }
  }

  // ---- answers

  /**
   * Counts one response of a batch as done, sent or not. After the last response, sends the batch. Also called once when the whole batch
   * has been read.
   */
  leaveBatch(batch: Batch): void {
    batch.waiting--;
    // A batch without responses gets nothing, not even an empty array.
    if (batch.waiting > 0 || batch.answers.length === 0) return;
    this.#running -= batch.answers.length;
    this.#keptBytes -= batch.bytes;
    this.#send(batch.answers);
    this.#host.onProgress();
  }

  /** Keeps a response until the others of its batch are ready. */
  #keep(response: JsonRpcResponse, batch: Batch): void {
    const bytes = countBytes(tryToSerialize(response) ?? '');
    this.#running++;
    this.#keptBytes += bytes;
    batch.bytes += bytes;
    batch.answers.push(response);
    this.leaveBatch(batch);
  }

  /** Drops the responses kept for a batch that will not become complete. */
  #dropKept(batch: Batch): void {
    this.#running -= batch.answers.length;
    this.#keptBytes -= batch.bytes;
    batch.answers.length = 0;
    batch.bytes = 0;
  }

  #send(answer: Answer): void {
    // Only a transport whose peer sent a batch gets an array here. See `Transport.send`.
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
    // Unread responses stay in memory, so their number is limited.
    if (this.#unread > 2 * MAX_IN_FLIGHT) {
      this.#host.report(new ConnectionClosedError('The peer does not read its responses: the connection was closed'));
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

/** Replaces a response that JSON cannot represent by -32603, so that the request still gets a response. Other responses are returned unchanged. */
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
