/** Reads the body of a POST: bounded in length and in time, UTF-8 or nothing. */

import type { ClockTimer } from '@mortise/jsonrpc-core';
import { BytePieces } from '@mortise/protocol/edge';
import type { HttpHost } from '../http-host.ts';
import { bodyTimeout, brokenBody, type HttpRefusal, notUtf8, serverClosing, tooLarge } from '../refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Takes the pieces of one body from the face that reads them. */
export class BodyReader {
  /** The whole body. Rejects with an `HttpRefusal`. */
  readonly text: Promise<string>;
  /** Set by a face that must stop reading when the body is refused. */
  onRefused: (() => void) | undefined;
  readonly #host: HttpHost;
  readonly #pieces = new BytePieces();
  readonly #timer: ClockTimer;
  #isDone = false;
  #resolve: (text: string) => void = () => undefined;
  #reject: (refusal: HttpRefusal) => void = () => undefined;

  constructor(host: HttpHost) {
    this.#host = host;
    this.text = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { clock, stallMs } = host.settings;
    this.#timer = clock.schedule(() => this.refuse(bodyTimeout()), stallMs);
    host.bodies.add(this);
    if (host.isClosing) this.refuse(serverClosing());
  }

  push(chunk: Uint8Array): void {
    if (this.#isDone) return;
    const { maxBodyBytes } = this.#host.settings;
    this.#pieces.push(chunk);
    if (this.#pieces.length > maxBodyBytes) this.refuse(tooLarge(maxBodyBytes));
  }

  /** The body is complete. */
  end(): void {
    if (this.#isDone) return;
    this.#finish();
    try {
      this.#resolve(decoder.decode(this.#pieces.join()));
    } catch {
      this.#reject(notUtf8());
    }
  }

  /** The sender is gone, or has sent everything: Node closes both. */
  break(): void {
    if (!this.#isDone) this.refuse(brokenBody());
  }

  /** Reads no further: the rest of the body is still on its way, so the connection ends with the answer. */
  refuse(refusal: HttpRefusal): void {
    if (this.#isDone) return;
    this.#finish();
    this.#pieces.clear();
    this.#reject(refusal.closing());
    this.onRefused?.();
  }

  #finish(): void {
    this.#isDone = true;
    this.#timer.cancel();
    this.#host.bodies.delete(this);
  }
}
