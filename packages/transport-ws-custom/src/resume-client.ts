/** The client's end of `mortise.resume.v1`: when a socket breaks, another one is opened and the channel goes on. */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { CloseCode } from './close-codes.ts';
import { FrameError, SocketClosedError, UpgradeRefusedError } from './errors.ts';
import { type Greeting, readGreeting } from './greeting.ts';
import type { MessageSocket } from './message-socket.ts';
import { type ChannelOwner, ResumingSocket } from './resuming-socket.ts';
import { encodeClientHello, parseServerHello, type ServerHello } from './resume-frames.ts';
import { MemorySentLog } from './sent-log.ts';
import { RESUME_PROTOCOL } from './subprotocol.ts';

/** A socket and what both sides agreed to speak on it. */
export interface OpenedSocket {
  readonly socket: MessageSocket;
  readonly protocol: string;
}

/** How a client opens sockets, the first and any later one. */
export interface ResumeSettings {
  open(signal: AbortSignal): Promise<OpenedSocket>;
  readonly openTimeoutMs: number;
  /** How long it is tried to go on, in milliseconds; the server may say less. */
  readonly windowMs: number;
  readonly clock: Clock;
}

const FLOOR_MS = 500;
const CEILING_MS = 30_000;

/** Opens a socket; one that outlives breaks where the server agrees to that. */
export async function openResuming(settings: ResumeSettings, signal: AbortSignal): Promise<MessageSocket> {
  const first = await settings.open(signal);
  if (first.protocol !== RESUME_PROTOCOL) return first.socket;
  const channel = new ClientChannel(settings);
  await channel.join(first.socket, signal);
  return channel.socket;
}

class ClientChannel implements ChannelOwner {
  readonly socket: ResumingSocket;
  readonly #settings: ResumeSettings;
  readonly #finished = new AbortController();
  #channel: string | null = null;
  #windowMs: number;

  constructor(settings: ResumeSettings) {
    this.#settings = settings;
    this.#windowMs = settings.windowMs;
    this.socket = new ResumingSocket(new MemorySentLog(), this);
  }

  /** Says hello on a fresh socket and goes on with it. */
  async join(socket: MessageSocket, signal: AbortSignal): Promise<void> {
    const { openTimeoutMs, clock } = this.#settings;
    const greeting = readGreeting(socket, openTimeoutMs, clock, signal);
    socket.send(encodeClientHello({ channel: this.#channel, received: this.socket.received }), undefined);
    const hello = this.#checkHello(socket, await greeting);
    this.#channel = hello.channel;
    this.#windowMs = Math.min(this.#settings.windowMs, hello.windowMs);
    await this.socket.attach(socket, hello.received, (await greeting).rest);
  }

  onDetached(): void {
    void this.#rejoin(this.#finished.signal).catch((error: unknown) => this.socket.giveUp(error));
  }

  onFinished(): void {
    this.#finished.abort(new SocketClosedError(CloseCode.normal, ''));
  }

  /** Tries again, calmly, until it is told that it is of no use or the server does not wait any longer. */
  async #rejoin(signal: AbortSignal): Promise<void> {
    const { clock, open } = this.#settings;
    const deadlineMs = clock.monotonicMs() + this.#windowMs;
    for (let attempt = 0; ; attempt++) {
      await pause(delayOf(attempt), clock, signal);
      try {
        const { socket, protocol } = await open(signal);
        if (protocol !== RESUME_PROTOCOL) return this.#leave(socket);
        return await this.join(socket, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!mayRepeat(error) || clock.monotonicMs() >= deadlineMs) throw error;
      }
    }
  }

  #leave(socket: MessageSocket): never {
    socket.terminate();
    throw new SocketClosedError(CloseCode.channelUnknown, `the server does not speak ${RESUME_PROTOCOL} any more`);
  }

  #checkHello(socket: MessageSocket, { first }: Greeting): ServerHello {
    const hello = parseServerHello(first);
    if (hello && (this.#channel === null || hello.channel === this.#channel)) return hello;
    socket.terminate();
    throw new FrameError(`The server's first frame breaks the rules of ${RESUME_PROTOCOL}`);
  }
}

/** At once, then from half a second up to half a minute, never the same for all. */
function delayOf(attempt: number): number {
  if (attempt === 0) return 0;
  return Math.max(FLOOR_MS, Math.min(CEILING_MS, FLOOR_MS * 2 ** attempt) * (0.5 + Math.random() / 2));
}

async function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (delayMs === 0) return;
  let stop: () => void = () => undefined;
  const waited = new Promise<void>((resolve) => {
    const timer = clock.schedule(resolve, delayMs, { keepAlive: true });
    stop = () => timer.cancel();
  });
  await abortable(waited, signal).finally(stop);
}

/** A network that is away may come back; a server that says no has said it. */
function mayRepeat(error: unknown): boolean {
  if (error instanceof UpgradeRefusedError) return error.status === 429 || error.status >= 500;
  return !(error instanceof FrameError) && !(error instanceof SocketClosedError && error.closeCode !== CloseCode.abnormal);
}
