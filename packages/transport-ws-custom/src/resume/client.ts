/** The client's side of `mortise.resume.v1`: when a socket breaks, opens another one and continues the channel on it. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { ConnectFailedError, SocketClosedError } from '../errors.ts';
import type { ClientResumption, MessageSocket, OpenedSocket } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, parseServerHello, readFirst, RESUME_PROTOCOL } from './frames.ts';
import { type ChannelOwner, ResumingSocket } from './resuming-socket.ts';

/**
 * Reconnects after a network break without a lost or repeated message, if the server supports it:
 * `webSocketTransport(url, { resume: resumeOnClient() })`.
 *
 * Tries to reconnect until the server's `windowMs` has passed, at most for five minutes. Then the connection ends as without this option.
 */
export function resumeOnClient(): ClientResumption {
  return {
    protocol: RESUME_PROTOCOL,
    async join(first, open, { clock, signal }) {
      const channel = new ClientChannel(open, clock);
      await channel.join(first, signal);
      return channel.socket;
    },
  };
}

type Open = (signal: AbortSignal) => Promise<OpenedSocket>;

const LONGEST_WINDOW_MS = 5 * 60_000;
const FLOOR_MS = 500;
const CEILING_MS = 30_000;

class ClientChannel implements ChannelOwner {
  readonly socket: ResumingSocket;
  readonly #open: Open;
  readonly #clock: Clock;
  readonly #finished = new AbortController();
  #channel: string | null = null;
  #windowMs = 0;

  constructor(open: Open, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
    this.socket = new ResumingSocket(this);
  }

  /** Sends the client's first frame on a new socket, reads the server's first frame, and continues the channel on that socket. */
  async join(socket: MessageSocket, signal: AbortSignal): Promise<void> {
    const reading = readFirst(socket, { clock: this.#clock, signal });
    socket.send(encodeFrame({ channel: this.#channel, received: this.socket.received }));
    const { first, rest } = await reading;
    const hello = parseServerHello(first);
    if (!hello || (this.#channel !== null && hello.channel !== this.#channel)) {
      socket.terminate();
      throw new SocketClosedError(CloseCode.unsupportedData, `The server's first frame is not a valid ${RESUME_PROTOCOL} frame`);
    }
    this.#channel = hello.channel;
    this.#windowMs = Math.min(LONGEST_WINDOW_MS, hello.windowMs);
    this.socket.attach(socket, hello.received, rest);
  }

  onDetached(): void {
    void this.#rejoin(this.#finished.signal).catch((error: unknown) => this.socket.giveUp(error));
  }

  onFinished(): void {
    this.#finished.abort(SocketClosedError.ofPeer(CloseCode.normal, ''));
  }

  /** Tries to reconnect, with growing pauses, until it succeeds, the server refuses, or the server's `windowMs` has passed. */
  async #rejoin(signal: AbortSignal): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + this.#windowMs;
    for (let attempt = 0; ; attempt++) {
      await pause(delayOf(attempt), this.#clock, signal);
      try {
        const { socket, protocol } = await this.#open(signal);
        if (protocol === RESUME_PROTOCOL) return await this.join(socket, signal);
        socket.terminate();
        throw new SocketClosedError(CloseCode.channelUnknown, `The server no longer supports ${RESUME_PROTOCOL}`);
      } catch (error) {
        if (signal.aborted) return;
        if (!mayRepeat(error) || this.#clock.monotonicMs() >= deadlineMs) throw error;
      }
    }
  }
}

/** Gives the pause before an attempt to reconnect, in milliseconds: 0 for the first, then 0.5 to 30 seconds, growing and with jitter. */
function delayOf(attempt: number): number {
  if (attempt === 0) return 0;
  return Math.max(FLOOR_MS, Math.min(CEILING_MS, FLOOR_MS * 2 ** attempt) * (0.5 + Math.random() / 2));
}

async function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (delayMs === 0) return;
  let timer: ClockTimer | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = clock.schedule(resolve, delayMs, { keepAlive: true });
  });
  await abortable(waited, signal).finally(() => timer?.cancel());
}

/** Tells whether another attempt to reconnect may succeed: after a network failure, 429 or 5xx. Any other refusal is final. */
function mayRepeat(error: unknown): boolean {
  if (error instanceof ConnectFailedError) return error.status === undefined || error.status === 429 || error.status >= 500;
  return !(error instanceof SocketClosedError) || error.closeCode === CloseCode.abnormal;
}
