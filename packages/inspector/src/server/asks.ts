/** `Asks`: requests of a server that wait until the user answers them in the page. */

import { randomUUID } from 'node:crypto';
import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import type { Ask } from '../messages.ts';

interface OpenAsk {
  readonly ask: Ask;
  resolve(answer: JsonObject): void;
  reject(error: unknown): void;
}

/** What `Asks` reports. */
export interface AskEvents {
  onAsk(ask: Ask): void;
  onOver(id: string): void;
}

/** The code with which a user's refusal is answered, as the specification of sampling has it. */
const REFUSED = -1;

export class Asks {
  readonly #events: AskEvents;
  readonly #open = new Map<string, OpenAsk>();

  constructor(events: AskEvents) {
    this.#events = events;
  }

  get open(): readonly Ask[] {
    return Array.from(this.#open.values(), ({ ask }) => ask);
  }

  /** Waits for the user's answer. Rejects if the user refuses, and with the signal's reason. */
  async ask<Answer>(kind: Ask['kind'], params: JsonObject, signal: AbortSignal): Promise<Answer> {
    const ask: Ask = { id: randomUUID(), kind, params };
    let onAbort: () => void = () => undefined;
    try {
      return (await new Promise<JsonObject>((resolve, reject) => {
        signal.throwIfAborted();
        onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        this.#open.set(ask.id, { ask, resolve, reject });
        this.#events.onAsk(ask);
      })) as Answer;
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#open.delete(ask.id)) this.#events.onOver(ask.id);
    }
  }

  /** Answers one request; without an answer it is refused. Does nothing if it is over. */
  answer(id: string, answer: JsonObject | undefined): void {
    const open = this.#open.get(id);
    if (answer) open?.resolve(answer);
    else open?.reject(new ProtocolError(REFUSED, 'The user refused the request'));
  }

  cancelAll(): void {
    for (const id of [...this.#open.keys()]) this.answer(id, undefined);
  }
}
