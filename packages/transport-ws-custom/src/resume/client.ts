/** The client's end of `mortise.resume.v1`: when a socket breaks, another one is opened and the channel goes on. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { ConnectFailedError, SocketClosedError } from '../errors.ts';
import type { ClientResumption, MessageSocket, OpenedSocket } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, parseServerHello, readFirst, RESUME_PROTOCOL } from './frames.ts';
import { type ChannelOwner, ResumingSocket } from './resuming-socket.ts';

/**
 * Goes on after a broken connection with nothing lost or doubled, where the server can: `webSocketTransport(url, { resume: resumeOnClient() })`.
 * Tries for as long as the server says that it waits, at most five minutes.
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

  /** Names the channel on a fresh socket and goes on with it. */
  async join(socket: MessageSocket, signal: AbortSignal): Promise<void> {
    const reading = readFirst(socket, { clock: this.#clock, signal });
    socket.send(encodeFrame({ channel: this.#channel, received: this.socket.received }));
    const { first, rest } = await reading;
    const hello = parseServerHello(first);
    if (!hello || (this.#channel !== null && hello.channel !== this.#channel)) {
      socket.terminate();
      throw new SocketClosedError(CloseCode.unsupportedData, `The server's first frame breaks the rules of ${RESUME_PROTOCOL}`);
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

  /** Tries again, with growing pauses, until the server refuses or no longer waits. */
  async #rejoin(signal: AbortSignal): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + this.#windowMs;
    for (let attempt = 0; ; attempt++) {
      await pause(delayOf(attempt), this.#clock, signal);
      try {
        const { socket, protocol } = await this.#open(signal);
        if (protocol === RESUME_PROTOCOL) return await this.join(socket, signal);
        socket.terminate();
        throw new SocketClosedError(CloseCode.channelUnknown, `The server no longer offers ${RESUME_PROTOCOL}`);
      } catch (error) {
        if (signal.aborted) return;
        if (!mayRepeat(error) || this.#clock.monotonicMs() >= deadlineMs) throw error;
      }
    }
  }
}

/** At once, then from half a second up to half a minute, with jitter. */
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

/** A network that is away may come back; a refusal is final. */
function mayRepeat(error: unknown): boolean {
  if (error instanceof ConnectFailedError) return error.status === undefined || error.status === 429 || error.status >= 500;
  return !(error instanceof SocketClosedError) || error.closeCode === CloseCode.abnormal;
}
