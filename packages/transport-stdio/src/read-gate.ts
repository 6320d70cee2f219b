/** Backpressure for servers: a `ReadGate` stops reading requests from a client that does not read its responses. */

/** The limit and the callbacks of a `ReadGate`. */
export interface ReadGateOptions {
  /** The most bytes of responses that the peer may leave unread. Above it, as many of the peer's bytes are buffered before `pause`. */
  readonly maxPendingBytes: number;
  /** How many bytes of responses wait for a peer that does not read; 0 while the peer reads. */
  unreadBytes(): number;
  /** Called with bytes from the peer that may be processed now. Must not throw. */
  read(chunk: Uint8Array): void;
  pause(): void;
  resume(): void;
}

/**
 * Passes the peer's bytes on to `read`. While the peer leaves more than `maxPendingBytes` of responses unread, buffers its bytes instead.
 *
 * Running requests never close the gate; only unread responses do. Use a gate on the server's side only: with one on each side, both could
 * wait for each other. A closed gate still reads up to `maxPendingBytes` into its buffer, because the end of the input is only seen after
 * the bytes before it are read.
 */
export class ReadGate {
  readonly #options: ReadGateOptions;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isClosed = false;
  #isEnded = false;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    if (this.#isClosed) return this.#hold(chunk);
    this.#options.read(chunk);
    this.#isClosed = !this.#isEnded && this.#options.unreadBytes() > this.#options.maxPendingBytes;
  }

  /** Opens the gate: passes the buffered bytes on to `read`. Call this when the peer has read its responses. */
  open(): void {
    if (!this.#isClosed) return;
    this.#isClosed = false;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    // Before the loop: the bytes that it passes on may close the gate and pause the input again.
    if (!this.#isEnded) this.#options.resume();
    for (const chunk of held) this.push(chunk);
  }

  /** Opens the gate for good: passes the buffered bytes on to `read`, and buffers no more. Call this when the input has ended. */
  end(): void {
    this.#isEnded = true;
    this.open();
  }

  /** Drops the buffered bytes of the peer, and buffers no more. */
  stop(): void {
    this.#held = [];
    this.end();
  }

  #hold(chunk: Uint8Array): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > this.#options.maxPendingBytes) this.#options.pause();
  }
}
