/** `Wire`: keeps the messages of one server, bounded by count and size, and pairs each response with its request. */

import type { JsonObject, JsonRpcMessage, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import { toError } from '@mortise/jsonrpc-core/transport';
import { type TransportHooks, watchMessages } from '@mortise/jsonrpc-core/wrap';
import type { WireLoss, WireMessage } from '../messages.ts';

/** How many messages are kept. */
const MAX_MESSAGES = 10_000;
/** How many characters the texts of the kept messages have together. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
const PREVIEW_LENGTH = 160;

interface Kept {
  readonly message: WireMessage;
  readonly text: string;
}

interface Waiting {
  readonly seq: number;
  readonly method: string;
  readonly subject: string;
  readonly startMs: number;
}

/** What a `Wire` reports as it happens. */
export interface WireEvents {
  onMessage(message: WireMessage): void;
  onLoss(loss: WireLoss): void;
}

export class Wire {
  readonly #events: WireEvents;
  readonly #kept = new Map<number, Kept>();
  /** Requests without a response, by the direction of the response and the id. */
  readonly #waiting = new Map<string, Waiting>();
  #characters = 0;
  #last = 0;
  #loss: WireLoss = { messages: 0, bytes: 0 };

  constructor(events: WireEvents) {
    this.#events = events;
  }

  get messages(): readonly WireMessage[] {
    return Array.from(this.#kept.values(), ({ message }) => message);
  }

  get loss(): WireLoss {
    return this.#loss;
  }

  /** The text of a message; undefined if it was dropped. */
  text(seq: number): string | undefined {
    return this.#kept.get(seq)?.text;
  }

  find(seq: number): WireMessage | undefined {
    return this.#kept.get(seq)?.message;
  }

  /** The response to the message `seq`; undefined if there is none yet. */
  responseTo(seq: number): WireMessage | undefined {
    for (const { message } of this.#kept.values()) if (message.answers === seq) return message;
    return undefined;
  }

  /** Hooks for `wrapTransport`, which record every message and every fault of the transport. */
  hooks(): TransportHooks {
    const watching = watchMessages((direction, message) => this.#record(direction, message));
    return {
      ...watching,
      exchange: async (request, options, next) => {
        try {
          return await watching.exchange(request, options, next);
        } catch (error) {
          const reason = toError(error).message;
          if (options?.signal?.aborted) this.#recordEnd(`The client ended this exchange: ${reason}`, request);
          else this.#recordFault(reason, request.method);
          throw error;
        }
      },
      error: (error, next) => {
        this.#recordFault(error.message, '');
        next(error);
      },
    };
  }

  #record(direction: 'in' | 'out', message: JsonRpcMessage): void {
    const text = JSON.stringify(message);
    const kind = classifyMessage(message);
    const rpcId = 'id' in message && message.id !== undefined ? JSON.stringify(message.id) : undefined;
    const request = kind === 'response' ? this.#answered(`${direction} ${rpcId}`) : undefined;
    const timeMs = Date.now();
    this.#keep(text, {
      timeMs,
      direction,
      kind: kind === 'invalid' ? 'error' : kind,
      method: 'method' in message ? message.method : (request?.method ?? ''),
      subject: 'method' in message ? subjectOf(message.params) : (request?.subject ?? ''),
      rpcId,
      isError: 'error' in message || isToolError(message),
      ...(request && { answers: request.seq, tookMs: performance.now() - request.startMs }),
    });
    if (kind === 'request' && 'method' in message)
      this.#wait(`${direction === 'out' ? 'in' : 'out'} ${rpcId}`, {
        seq: this.#last,
        method: message.method,
        subject: subjectOf(message.params),
        startMs: performance.now(),
      });
  }

  #recordEnd(text: string, { method, params, id }: JsonRpcRequest): void {
    const facts = { method, subject: subjectOf(params), rpcId: JSON.stringify(id), isError: false } as const;
    this.#keep(text, { ...facts, timeMs: Date.now(), direction: 'out', kind: 'ended' });
  }

  #recordFault(text: string, method: string): void {
    this.#keep(text, { timeMs: Date.now(), direction: 'in', kind: 'error', method, subject: '', rpcId: undefined, isError: true });
  }

  #keep(text: string, facts: Omit<WireMessage, 'seq' | 'bytes' | 'preview'>): void {
    const message: WireMessage = {
      ...facts,
      seq: ++this.#last,
      bytes: Buffer.byteLength(text),
      preview: cut(text, PREVIEW_LENGTH),
    };
    this.#kept.set(message.seq, { message, text });
    this.#characters += text.length;
    this.#drop();
    this.#events.onMessage(message);
  }

  #drop(): void {
    const { messages } = this.#loss;
    for (const [seq, { message, text }] of this.#kept) {
      if (this.#kept.size <= MAX_MESSAGES && this.#characters <= MAX_CHARACTERS) break;
      this.#kept.delete(seq);
      this.#characters -= text.length;
      this.#loss = { messages: this.#loss.messages + 1, bytes: this.#loss.bytes + message.bytes };
    }
    if (this.#loss.messages !== messages) this.#events.onLoss(this.#loss);
  }

  #wait(key: string, waiting: Waiting): void {
    this.#waiting.set(key, waiting);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_MESSAGES && oldest !== undefined) this.#waiting.delete(oldest);
  }

  #answered(key: string): Waiting | undefined {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    return waiting;
  }
}

/** The beginning of a text. A part of a string keeps the whole alive, so this one is made anew. */
export const cut = (text: string, length: number): string => (text.length <= length ? text : Buffer.from(text.slice(0, length)).toString());

/** The tool, prompt or URI that a request is about. */
function subjectOf(params: JsonObject | undefined): string {
  const subject = params?.['name'] ?? params?.['uri'];
  return typeof subject === 'string' ? cut(subject, PREVIEW_LENGTH) : '';
}

/** A tool that failed answers with a result that says so. */
const isToolError = (message: JsonRpcMessage): boolean => 'result' in message && message.result['isError'] === true;
