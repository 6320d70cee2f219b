/**
 * The answer to one legacy POST: a JSON body, or a stream as soon as something precedes the answer or the client must be able to
 * resume. A batch has one answer with several responses.
 *
 * @see 2025-11-25 basic/transports#sending-messages-to-the-server
 */

import type { Clock, ClockTimer, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Revision } from '@mortise/protocol';
import { type Caller, HostedCall } from './hosted-call.ts';
import type { HostedSession } from './hosted-session.ts';
import type { HeaderList } from './http-request.ts';
import type { AnswerMode } from './modern-call.ts';
import { rejectUnreachable } from './reject-unreachable.ts';
import type { Reply } from './reply.ts';
import { FORBIDDEN } from './scope-challenge.ts';
import { createStreamId, SessionStream } from './session-stream.ts';
import { toJsonText, writeResponse } from './to-json-text.ts';

/** What shapes an answer. */
export interface LegacyAnswerOptions {
  readonly reply: Reply;
  readonly mode: AnswerMode;
  readonly revision: Revision;
  /** Absent where the program turned sessions off. */
  readonly session: HostedSession | undefined;
  /** Whether the stream may be resumed: the answer to `initialize` cannot, since its session is not yet known to the client. */
  readonly isResumable: boolean;
  /** How many requests are to be answered. */
  readonly expected: number;
  readonly isBatch: boolean;
  readonly retryMs: number;
  /** The challenge that goes with an answer for lack of scope, which stands alone. */
  readonly challengeOf: (response: JsonRpcResponse) => HeaderList | undefined;
  /** Given where an answer may turn out to be such a challenge: a stream that is only there to be resumed waits for that a moment. */
  readonly holdClock: Clock | undefined;
}

/** How long a call may take to be refused for lack of scope with a status of HTTP, where its stream would have begun at once. */
const HOLD_MS = 200;
/** What they are told whom a host that closes leaves without an answer. */
const CLOSED = 'The server has closed';

export class LegacyAnswer {
  readonly #options: LegacyAnswerOptions;
  readonly #responses: JsonRpcResponse[] = [];
  #open: number;
  #stream: SessionStream | undefined;
  #holdTimer: ClockTimer | undefined;

  constructor(options: LegacyAnswerOptions) {
    this.#options = options;
    this.#open = options.expected;
    if (!this.canPause) return;
    // With a log, a client that is told an event id at once can come back for an answer that it missed.
    const { holdClock } = options;
    if (holdClock === undefined) this.#openStream();
    else this.#holdTimer = holdClock.schedule(() => this.#stream ?? this.#openStream(), HOLD_MS);
  }

  /** Whether the stream may be closed before its answer and fetched later. */
  get canPause(): boolean {
    const { isResumable, mode, revision, session } = this.#options;
    return isResumable && revision.http.polling && session?.log !== undefined && mode.sse && !mode.jsonOnly;
  }

  /** Sends what belongs to one of the requests. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    const { mode, session } = this.#options;
    const isOver = this.#open === 0;
    const canStream = mode.sse && !mode.jsonOnly && !isOver;
    const stream = canStream ? (this.#stream ?? this.#openStream()) : undefined;
    if (stream !== undefined && (stream.isReachable || !('id' in message))) return stream.send(message);
    // A question may take the client's GET stream where its own has none; what only informs is dropped.
    if (!('id' in message)) return resolvedPromise;
    if (session !== undefined && session.isConnected) return session.send(message);
    if (canStream) return rejectUnreachable(message, 'the client closed the stream of its request');
    return rejectUnreachable(
      message,
      `${isOver ? 'its request is answered' : 'answers are JSON alone'}, and the client has no GET stream open`,
    );
  }

  /** Ends the connection early; the client comes back for the rest. */
  pause(retryMs: number): void {
    if (this.#open > 0) (this.#stream ?? this.#openStream()).pause(retryMs);
  }

  /**
   * One request is done.
   *
   * @param response undefined where the request is not to be answered: the client cancelled it.
   * @returns Resolves once the whole answer is handed to the layer below, which a slow log or reader delays; never rejects.
   */
  settle(response: JsonRpcResponse | undefined): Promise<void> {
    if (response !== undefined) {
      if (this.#stream === undefined) this.#responses.push(response);
      else sendResponse(this.#stream, response);
    }
    return --this.#open === 0 ? this.#finish() : resolvedPromise;
  }

  #finish(): Promise<void> {
    const { reply, session } = this.#options;
    if (this.#stream === undefined && this.#wantsStream()) this.#openStream();
    this.#holdTimer?.cancel();
    const stream = this.#stream;
    if (stream !== undefined) return stream.finish().then(() => session?.deletePost(stream));
    const [only] = this.#responses;
    if (only === undefined) reply.empty(202);
    else if (this.#options.isBatch) reply.json(200, `[${this.#responses.map(toJsonText).join(',')}]`);
    else this.#answer(only);
    return resolvedPromise;
  }

  /** An answer that could do without goes by stream where the client takes nothing else, or must be able to resume. */
  #wantsStream(): boolean {
    const [first] = this.#responses;
    if (first === undefined || (this.#options.mode.json && !this.canPause)) return false;
    return this.#options.isBatch || this.#challengeOf(first) === undefined;
  }

  #challengeOf(response: JsonRpcResponse): HeaderList | undefined {
    return 'error' in response ? this.#options.challengeOf(response) : undefined;
  }

  #answer(response: JsonRpcResponse): void {
    const { reply } = this.#options;
    const challenge = this.#challengeOf(response);
    if (challenge !== undefined) reply.addHeaders(challenge);
    reply.json(challenge === undefined ? this.#statusOf(response) : FORBIDDEN, toJsonText(response));
  }

  #statusOf(response: JsonRpcResponse): number {
    return 'error' in response ? (this.#options.revision.http.statusByCode.get(response.error.code) ?? 200) : 200;
  }

  #openStream(): SessionStream {
    const { isResumable, reply, revision, session, retryMs } = this.#options;
    const log = isResumable && revision.http.resumable ? session?.log : undefined;
    const stream = new SessionStream(log === undefined ? '' : createStreamId('post'), log);
    this.#stream = stream;
    if (log !== undefined) session?.addPost(stream);
    stream.connect(reply.openStream('wait'), this.canPause ? retryMs : undefined);
    for (const response of this.#responses.splice(0)) sendResponse(stream, response);
    return stream;
  }
}

function sendResponse(stream: SessionStream, response: JsonRpcResponse): void {
  const { message, json } = writeResponse(response);
  stream.sendAnswer(message, json);
}

/** A legacy request as its endpoint sees it. A client that leaves has not cancelled. */
export class LegacyCall extends HostedCall {
  readonly #id: RequestId;
  readonly #answer: LegacyAnswer;
  readonly #retryMs: number;
  #isSettled = false;

  constructor(caller: Caller, { id }: JsonRpcRequest, answer: LegacyAnswer, retryMs: number) {
    super(caller);
    this.#id = id;
    this.#answer = answer;
    this.#retryMs = retryMs;
  }

  get closeStream(): ((retryMs?: number) => void) | undefined {
    if (!this.#answer.canPause) return undefined;
    return (retryMs = this.#retryMs) => {
      if (!this.isCancelled) this.#answer.pause(retryMs);
    };
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.isCancelled) return this.#answer.send(message);
    if (!('id' in message)) return resolvedPromise;
    return rejectUnreachable(message, CLOSED);
  }

  /** The endpoint is done with it, first or after it was aborted. @param response As of `LegacyAnswer.settle`. */
  settle(response: JsonRpcResponse | undefined): Promise<void> {
    if (this.#isSettled) return resolvedPromise;
    this.#isSettled = true;
    return this.#answer.settle(response);
  }

  /** The host closes: the client gets an error at once, since the endpoint may never answer. */
  override cut(reason: Error): void {
    this.cancel(reason);
    void this.settle({ jsonrpc: '2.0', id: this.#id, error: { code: INTERNAL_ERROR, message: CLOSED } });
  }
}
