/** What both channels of the legacy era share: callbacks, the order of what is sent, messages that are only accepted, and the end. */

import {
  type ClockTimer,
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import { classifyMessage, measureMessage, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo, SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { reportTo } from '../../report-to.ts';
import type { ClientSettings } from '../client-options.ts';
import { type HttpFailure, readFailure } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import type { Sending, Wire } from '../wire.ts';
import { SendLane } from './send-lane.ts';

/** How long a server may take to accept what it need not answer. */
const ACCEPT_TIMEOUT_MS = 30_000;

/** What channels that follow one another towards one server know of each other. */
export interface Lineage {
  /**
   * Whether a 400 that speaks of the session was taken for a lost session, and no session has answered a request since. Then it is an error like
   * others, so that a server which always answers so is not asked for session after session.
   */
  isBadRequestSpent: boolean;
}

/** Whose message is posted. */
export interface PostTerms {
  /** Of a request, whose answer comes elsewhere but whose refusal comes here. */
  readonly id?: RequestId | undefined;
  /** Whose time stands still while somebody signs in. */
  readonly caller?: WaitingCaller | undefined;
}

export abstract class PostingChannel implements Transport {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly wire: Wire;
  readonly settings: ClientSettings;
  protected readonly lane = new SendLane();
  readonly #accepting = new Set<Sending>();
  #endTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire, settings: ClientSettings) {
    this.wire = wire;
    this.settings = settings;
  }

  abstract start(): Promise<void>;

  /** Sends what is only accepted. @throws As `send`. */
  protected abstract notify(message: JsonRpcMessage, text: string): Promise<void>;

  /** Sends a request. @throws As `send`. */
  protected abstract request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void>;

  /** @throws Why nothing can be sent. */
  protected abstract assertOpen(): void;

  /** Lets go of everything. */
  protected abstract end(): void | Promise<void>;

  /**
   * Sends a message. Messages that are no requests are accepted in the order in which they were sent.
   *
   * @throws {SessionLostError} The server does not know the session; the message was not carried out, and the channel ends.
   * @throws {ExchangeHttpError} The server refused it. {ConnectionClosedError} Its answer broke off.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      this.assertOpen();
      const text = serializeMessage(message);
      if (classifyMessage(message) !== 'request') return this.lane.inTurn(() => this.notify(message, text));
      return this.lane.behind(() => this.request(message as JsonRpcRequest, text, options), options);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Ends the session, and everything here. */
  close(): Promise<void> {
    this.#endTimer?.cancel();
    // Later, so that a callback that closes again finds the promise that is already there.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  protected get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  protected get isAccepting(): boolean {
    return this.#accepting.size > 0;
  }

  /** Posts a message that is only accepted. @returns How it was refused; undefined where it was accepted. */
  protected async post(call: HttpCall, { id, caller }: PostTerms): Promise<HttpFailure | undefined> {
    const sending = this.wire.send(call, { caller, timeoutMs: ACCEPT_TIMEOUT_MS });
    this.#accepting.add(sending);
    try {
      const answer = await sending.answer;
      if (answer.status < 200 || answer.status > 299) return await readFailure(call, answer, id);
      this.wire.discard(answer);
      return undefined;
    } finally {
      this.#accepting.delete(sending);
    }
  }

  /** @param text What the value was read from; empty where this side has made it. */
  deliver(value: JsonValue, text: string): void {
    if (this.isClosing) return;
    const bytes = measureMessage(text);
    try {
      // T5: a JSON value that is no message is for the reader above to judge, and so is a batch.
      this.onmessage?.(value as unknown as JsonRpcMessage, bytes === undefined ? undefined : { bytes });
    } catch (error) {
      this.report(error);
    }
  }

  report(thrown: unknown): void {
    reportTo(this, thrown);
  }

  /** Reports why the channel ends, and closes it. Later, so that whoever waits for what was not carried out learns that first. */
  protected endLater(why: Error, delayMs: number): void {
    this.#endTimer?.cancel();
    const end = (): void => {
      this.report(why);
      void this.close();
    };
    this.#endTimer = this.settings.clock.schedule(end, delayMs, { keepAlive: true });
  }

  async #close(): Promise<void> {
    const ended = this.end();
    for (const sending of this.#accepting) sending.abort(new ConnectionClosedError());
    await ended;
    this.wire.close();
    try {
      this.onclose?.();
    } catch (error) {
      this.report(error);
    }
  }
}
