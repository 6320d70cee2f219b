/** Backpressure of a side that serves, on a peer that asks and does not read its answers. */

/** What a `ReadGate` looks at, and what it moves. */
export interface ReadGateOptions {
  /** How many bytes may wait to be taken by a peer that does not read, and how many of its own may be held meanwhile. */
  readonly maxPendingBytes: number;
  /** How many bytes wait to be taken by a peer that does not read; 0 while it does. */
  unreadBytes(): number;
  /** Takes bytes that have passed. Must not throw. */
  read(chunk: Uint8Array): void;
  pause(): void;
  resume(): void;
}

/**
 * Lets bytes pass unless the peer leaves more than `maxPendingBytes` unread, and holds them back until it has read.
 *
 * What the peer asked and what is still being worked on hold nothing back, so that a peer which reads is always read. Both sides of one channel must
 * not have such a gate, or each could wait for the other: the side that calls reads always. As many bytes again are fetched and held while the gate is
 * closed, for only behind the last of them the end of the input can be seen.
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

  /** Lets pass what is held. Call it when the peer has read. */
  open(): void {
    if (!this.#isClosed) return;
    this.#isClosed = false;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    // First, for what passes may close the gate again.
    if (!this.#isEnded) this.#options.resume();
    for (const chunk of held) this.push(chunk);
  }

  /** Lets pass what is held, and from now on everything. Call it when the input has ended. */
  end(): void {
    this.#isEnded = true;
    this.open();
  }

  /** Drops what is held. */
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
