/** Reads the body of a POST: bounded in length and in time, UTF-8 or nothing. */

import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import type { SharedState } from './shared-state.ts';
import { HttpRefusal, serverClosing } from './refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Takes the pieces of one body from the exchange that reads them: `push`, `end` and `fail` are its listeners. */
export class BodyReader {
  /** Set by an exchange that must stop reading when the body is refused. */
  onRefused: (() => void) | undefined;
  /** When it must be complete, by `Clock.monotonicMs`. */
  readonly dueAtMs: number;
  readonly #shared: SharedState;
  readonly #resolve: (text: string) => void;
  readonly #reject: (refusal: HttpRefusal) => void;
  readonly #pieces = new BytePieces();
  #isDone = false;

  constructor(shared: SharedState, resolve: (text: string) => void, reject: (refusal: HttpRefusal) => void) {
    this.#shared = shared;
    this.#resolve = resolve;
    this.#reject = reject;
    const { clock, stallMs } = shared.settings;
    this.dueAtMs = clock.monotonicMs() + stallMs;
    shared.watchBody(this);
    if (shared.isClosing) this.refuse(serverClosing());
  }

  /** Throws away what comes after a refusal, so that the connection is not stuck. */
  readonly push = (chunk: Uint8Array): void => {
    if (this.#isDone) return;
    this.#pieces.push(chunk);
    if (this.#pieces.length > this.#shared.settings.maxBodyBytes) this.refuse(tooLarge(this.#shared));
  };

  /** The body is complete. */
  readonly end = (): void => {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#shared.bodies.delete(this);
    try {
      this.#resolve(decoder.decode(this.#pieces.join()));
    } catch {
      this.#reject(new HttpRefusal(400, 'The body is not UTF-8', { rpcCode: PARSE_ERROR }));
    }
  };

  /** The sender is gone, or has closed its side of the connection, after which Node closes the other. */
  readonly fail = (): void => {
    if (!this.#isDone) this.refuse(new HttpRefusal(400, 'The body ended early'));
  };

  /** Reads no further. The rest of the body is still on its way, so the connection ends with the answer. */
  refuse({ status, message, detail }: HttpRefusal): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#shared.bodies.delete(this);
    this.#pieces.clear();
    this.#reject(new HttpRefusal(status, message, { ...detail, closes: true }));
    this.onRefused?.();
  }
}

export function tooLarge({ settings: { maxBodyBytes } }: SharedState): HttpRefusal {
  const message = `The body is longer than ${maxBodyBytes} bytes: send less, or raise the server's maxBodyBytes`;
  return new HttpRefusal(413, message, { closes: true });
}
