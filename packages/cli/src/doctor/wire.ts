/** `Wire`: raw messages to a server and its raw answers, so that `doctor` sees what a client would hide or mend. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

/** What came back for one message. */
export interface Reply {
  /** The answer; undefined if none came in time, or none was due. */
  readonly message?: JsonObject | undefined;
  /** Over HTTP: the status and the headers. */
  readonly status?: number;
  readonly headers?: Headers;
}

export interface Wire {
  readonly kind: 'stdio' | 'http' | 'websocket';
  /** What the server sent that it should not: text that is no message, answers to nothing. */
  readonly strays: readonly string[];
  /** Sends a message. Resolves to its answer; without one when the time is over, and at once for a message that has no `id`. */
  send(message: JsonObject): Promise<Reply>;
  close(): Promise<void>;
}

/** Opens a new connection to the server. */
export type OpenWire = () => Promise<Wire>;

const MAX_STRAYS = 20;

/** Pairs the messages of a two-way channel with the requests that wait for them. */
export class Pairing {
  readonly strays: string[] = [];
  readonly #waiting = new Map<string, (message?: JsonObject) => void>();
  #hasEnded = false;

  /** Takes what the server sent, as text. */
  readonly onText = (text: string): void => {
    const message = readObject(text);
    if (message === undefined) return this.#stray(text);
    if (typeof message['method'] === 'string') return;
    const key = JSON.stringify(message['id'] ?? null);
    const resolve = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (resolve) resolve(message);
    else this.#stray(text);
  };

  /** Sends a message by `write`, and waits for its answer if it is a request. */
  async ask(message: JsonObject, timeoutMs: number, write: () => void): Promise<Reply> {
    if (!('id' in message) || this.#hasEnded) {
      write();
      return {};
    }
    const answer = await new Promise<JsonObject | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      this.#waiting.set(JSON.stringify(message['id']), (found) => {
        clearTimeout(timer);
        resolve(found);
      });
      write();
    });
    return { message: answer };
  }

  /** The channel has ended: no more answers will come. */
  end(): void {
    this.#hasEnded = true;
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  #stray(text: string): void {
    if (this.strays.length < MAX_STRAYS) this.strays.push(Buffer.from(text.slice(0, 200)).toString());
  }
}

/** Reads a text as a JSON object. @returns undefined if it is none. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
