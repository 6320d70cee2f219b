/** The requests sent from here that wait for their answer: settles each once, in time or not. */

import { InvalidResponseError, RemoteError, TimeoutError } from '../errors.ts';
import type { Clock } from '../instruments.ts';
import type { JsonObject, JsonRpcErrorResponse, JsonRpcResponse, RequestId } from '../message.ts';
import { SignalWatch } from '../signal-watch.ts';
import { CallTable } from './call-table.ts';
import type { SendOptions } from '../transport/transport.ts';
import { DeadlineTable } from './deadline-table.ts';
import { type TimeBounds, TimeLimit } from './time-limit.ts';

/** What a caller gets: a result, or the whole response. */
export type Outcome = JsonObject | JsonRpcResponse;

/** What a pending call needs to know; `Infinity` for no bound. */
export interface PendingCallInit extends TimeBounds {
  readonly id: number;
  readonly method: string;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  /** Resolves with the response as it came, errors included. */
  readonly isRaw: boolean;
  readonly isCancellable: boolean;
  readonly resetsOnProgress: boolean;
  readonly onProgress: ((params: JsonObject) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly cancelReason: string | undefined;
  readonly relatedRequestId: RequestId | undefined;
}

/** What the table of pending calls does outside itself. */
export interface PendingCallsHost {
  /** Tells the peer to stop working on a request. */
  sendCancelled(id: number, reason: string | undefined): void;
  /** No call waits any more: the last one was settled, in whichever way. */
  onNoneLeft(): void;
}

/** How many ids of abandoned requests are remembered, so that their late answers are not taken for strangers. */
const MAX_ABANDONED = 1024;

export class PendingCalls {
  readonly #clock: Clock;
  readonly #host: PendingCallsHost;
  readonly #calls = new CallTable<RequestId, PendingCall>();
  readonly #abandoned = new Set<RequestId>();
  readonly #signals = new SignalWatch<PendingCall>((call, reason) =>
    this.#abandon(call, reason, initOf(call).cancelReason ?? toReasonText(reason)),
  );
  readonly #deadlines: DeadlineTable;
  #lastId = 0;
  /** The last message that could not be read, which may have answered any call of then. */
  #unread: { readonly error: Error; readonly lastId: number } | undefined;

  /** @param maxTimeoutMs The hard bound of calls that have none of their own. */
  constructor(clock: Clock, maxTimeoutMs: number, host: PendingCallsHost) {
    this.#clock = clock;
    this.#host = host;
    this.#deadlines = new DeadlineTable(clock, () => this.#calls.values(), maxTimeoutMs);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Uses up an id, for the call that is to be opened: an integer that never repeats. */
  takeId(): number {
    return ++this.#lastId;
  }

  /** @returns How its request is to be sent. */
  open(init: PendingCallInit): SendOptions {
    const call = new PendingCall(this, init, this.#clock.monotonicMs());
    this.#calls.set(init.id, call);
    if (init.signal) this.#signals.add(init.signal, call);
    this.#deadlines.add(call);
    return call;
  }

  /** Settles the call that a response answers. False if there is none that waits for it. */
  settle(response: JsonRpcResponse): boolean {
    const call = this.#take(response.id);
    if (!call) return false;
    const init = initOf(call);
    if (init.isRaw) init.resolve(response);
    else if (isErrorResponse(response)) init.reject(new RemoteError(response.error, init.method));
    else init.resolve(response.result);
    return true;
  }

  /** Settles the call that a malformed response was meant for, which would wait in vain. False if there is none. */
  settleMalformed(id: unknown, problem = 'is not a JSON-RPC response', cause?: Error): boolean {
    const call = this.#take(id);
    if (!call) return false;
    const { method, reject } = initOf(call);
    reject(new InvalidResponseError(`The answer to "${method}" ${problem}`, cause && { cause }));
    return true;
  }

  /** A message came that cannot be read, nor whose it is: should a call of now wait in vain, that may be why. */
  noteUnread(error: Error): void {
    this.#unread = { error, lastId: this.#lastId };
  }

  /** True, once, if a response answers a request that was given up here: it is late, not wrong. */
  forgetAbandoned(id: unknown): boolean {
    return this.#abandoned.delete(id as RequestId);
  }

  /** Starts a call's time anew and returns who wants to hear of the progress, if the token is an active call's. */
  progress(token: unknown): ((params: JsonObject) => void) | undefined {
    const call = this.#calls.get(token as RequestId);
    if (!call) return undefined;
    // The timer may now be early; it then looks again and is set to what is due next.
    const { resetsOnProgress, onProgress } = initOf(call);
    if (resetsOnProgress) call.restart(this.#clock.monotonicMs());
    return onProgress;
  }

  /** Lets the time of every call stand still, for as long as it may. @returns Lets it go on; of several pauses the last one ends it. */
  pauseTimeouts(): () => void {
    return this.#deadlines.pauseAll();
  }

  /** Lets the time of one call stand still. */
  pauseTimeout(call: PendingCall): () => void {
    return this.#deadlines.pause(call);
  }

  /** Rejects a call whose request could not be sent. The peer knows nothing of it and is told nothing. */
  fail(id: number, error: unknown): void {
    const call = this.#take(id);
    if (call) initOf(call).reject(error);
  }

  /** Rejects everything that waits, and stops the clock. */
  failAll(error: Error): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#abandoned.clear();
    this.#deadlines.stop();
    for (const call of calls) {
      this.#release(call);
      initOf(call).reject(error);
    }
  }

  /** A call's time is over. */
  expire(call: PendingCall, boundMs: number): void {
    const { id, method } = initOf(call);
    const cause = this.#unread && id <= this.#unread.lastId ? this.#unread.error : undefined;
    const message = `"${method}" was not answered within ${boundMs} ms: raise timeoutMs, or ask for less`;
    this.#abandon(call, new TimeoutError(message, boundMs, cause && { cause }), `Not answered within ${boundMs} ms`);
  }

  /** Gives a call up because its signal aborted or its time is over. */
  #abandon(call: PendingCall, error: unknown, reason: string | undefined): void {
    const { id, isCancellable, reject } = initOf(call);
    if (this.#take(id) !== call) return;
    this.#remember(id);
    if (isCancellable) this.#host.sendCancelled(id, reason);
    reject(error);
  }

  #take(id: unknown): PendingCall | undefined {
    const call = this.#calls.get(id as RequestId);
    if (!call) return undefined;
    this.#calls.delete(initOf(call).id);
    this.#deadlines.delete(call);
    this.#release(call);
    if (this.#calls.size === 0) this.#host.onNoneLeft();
    return call;
  }

  #release(call: PendingCall): void {
    const { signal } = initOf(call);
    if (signal) this.#signals.remove(signal, call);
  }

  #remember(id: number): void {
    this.#abandoned.add(id);
    if (this.#abandoned.size <= MAX_ABANDONED) return;
    for (const oldest of this.#abandoned) {
      this.#abandoned.delete(oldest);
      return;
    }
  }
}

/** One waiting caller. It is how its own request is sent, which so costs no object. */
class PendingCall extends TimeLimit implements SendOptions {
  readonly relatedRequestId: RequestId | undefined;
  readonly #init: PendingCallInit;
  readonly #calls: PendingCalls;

  constructor(calls: PendingCalls, init: PendingCallInit, nowMs: number) {
    super(init, nowMs);
    this.#calls = calls;
    this.#init = init;
    this.relatedRequestId = init.relatedRequestId;
  }

  /** Not a member, for a transport is handed the call: what settles it is none of its business. */
  static initOf(call: PendingCall): PendingCallInit {
    return call.#init;
  }

  pauseTimeout(): () => void {
    return this.#calls.pauseTimeout(this);
  }

  protected onTimeout(boundMs: number): void {
    this.#calls.expire(this, boundMs);
  }
}

function initOf(call: PendingCall): PendingCallInit {
  return PendingCall.initOf(call);
}

function isErrorResponse(response: JsonRpcResponse): response is JsonRpcErrorResponse {
  return (response as Partial<JsonRpcErrorResponse>).error !== undefined;
}

function toReasonText(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason;
  return reason instanceof Error ? reason.message : undefined;
}
