/** Reads the body of a POST as UTF-8, with limits for size and time. */

import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import type { SharedState } from './shared-state.ts';
import { HttpRefusal, serverClosing } from './refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Collects the chunks of one request body. `push`, `end` and `fail` are listeners for the stream of the HTTP request. */
export class BodyReader {
  /** Called when the body is refused, so that the exchange stops reading. Set by exchanges that need it. */
  onRefused: (() => void) | undefined;
  /** When the body must be complete, as a time of `Clock.monotonicMs`. */
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

  /** Takes a chunk of the body. After a refusal, chunks are discarded, so that the connection does not stall. */
  readonly push = (chunk: Uint8Array): void => {
    if (this.#isDone) return;
    this.#pieces.push(chunk);
    if (this.#pieces.length > this.#shared.settings.maxBodyBytes) this.refuse(tooLarge(this.#shared));
  };

  /** Called when the body is complete. */
  readonly end = (): void => {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#shared.bodies.delete(this);
    try {
      this.#resolve(decoder.decode(this.#pieces.join()));
    } catch {
      this.#reject(new HttpRefusal(400, 'The request body is not UTF-8: send JSON in UTF-8', { rpcCode: PARSE_ERROR }));
    }
  };

  /** Called when the body cannot become complete: the client closed the connection, or its side, after which Node closes the other. */
  readonly fail = (): void => {
    if (!this.#isDone) this.refuse(new HttpRefusal(400, 'The request body ended early'));
  };

  /** Stops reading the body and rejects. The client is still sending the rest, so the connection closes after the error response. */
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
