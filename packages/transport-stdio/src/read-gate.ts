/** Backpressure for servers: stops reading requests from a client that does not read its responses. */

/** The limit and the callbacks of a `ReadGate`. */
export interface ReadGateOptions {
  /** The gate closes when the peer has left more bytes than this unread. Then as many bytes from the peer are buffered before `pause`. */
  readonly maxPendingBytes: number;
  /** How many bytes of responses wait for a peer that does not read; 0 while the peer reads. */
  unreadBytes(): number;
  /** Called with the bytes that pass the gate. Must not throw. */
  read(chunk: Uint8Array): void;
  pause(): void;
  resume(): void;
}

/**
 * Passes on the peer's bytes. While the peer leaves more than `maxPendingBytes` of responses unread, buffers them instead.
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

  /** Opens the gate and passes on the buffered bytes. Call this when the peer has read its responses. */
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

  /** Passes on the buffered bytes and never closes again. Call this when the input has ended. */
  end(): void {
    this.#isEnded = true;
    this.open();
  }

  /** Drops the buffered bytes and never closes again. */
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
