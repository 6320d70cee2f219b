/** The server's side of `mortise.resume.v1`: keeps the open channels, including those whose client is disconnected. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { MessageSocket, ResumptionHost, ServerResumption } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, parseClientHello, readFirst, RESUME_PROTOCOL } from './frames.ts';
import { ResumingSocket } from './resuming-socket.ts';

/** The options of `resumeOnServer`. */
export interface ServerResumeOptions {
  /** How long the server keeps the connection state of a client that is disconnected, in milliseconds. @default 60_000 */
  readonly windowMs?: number | undefined;
  /**
   * For how many disconnected clients the connection state is kept. Beyond it, or beyond 64 MiB of stored messages in all, the client of the
   * `limitKey` with the most stored messages that was disconnected first can no longer resume.
   *
   * @default 1_000
   */
  readonly maxWaiting?: number | undefined;
}

/**
 * Lets clients reconnect after a network break without a lost or repeated message:
 * `serveWebSocket(server, { port, resume: resumeOnServer() })`.
 *
 * Messages stay in memory until the client acknowledges them: at most 16 MiB for each channel, the limit for slow readers.
 *
 * @throws {TypeError} An option is unknown or has a wrong value.
 */
export function resumeOnServer(options: ServerResumeOptions = {}): ServerResumption {
  checkOptions('resumeOnServer options', options, { windowMs: 1, maxWaiting: 1 });
  return new ResumableChannels(options);
}

type Client = Parameters<ServerResumption['accept']>[1];

interface Channel {
  readonly id: string;
  readonly client: Client;
  readonly socket: ResumingSocket;
  timer: ClockTimer | undefined;
}

const ID_BYTES = 24;
/** How many characters the messages stored for disconnected clients may have in all. */
const MAX_STORED = 64 * 1024 * 1024;
/** Each disconnected client counts as at least this many stored characters. */
const LEAST_STORED = 1024;

class ResumableChannels implements ServerResumption {
  readonly protocol: string = RESUME_PROTOCOL;
  readonly #windowMs: number;
  readonly #maxWaiting: number;
  readonly #channels = new Map<string, Channel>();
  /** The channels whose client is disconnected, the one that has waited longest first. */
  readonly #waiting = new Set<Channel>();

  constructor({ windowMs = 60_000, maxWaiting = 1000 }: ServerResumeOptions) {
    this.#windowMs = windowMs;
    this.#maxWaiting = maxWaiting;
  }

  async accept(socket: MessageSocket, client: Client, host: ResumptionHost): Promise<MessageSocket | undefined> {
    const { first, rest } = await readFirst(socket, host);
    const hello = parseClientHello(first);
    if (!hello || rest.length > 0)
      return refuse(socket, CloseCode.unsupportedData, `the first frame must be a control frame of ${RESUME_PROTOCOL}, alone`);
    if (hello.channel === null) return this.#open(socket, client, host.clock);
    const channel = this.#channels.get(hello.channel);
    // Every case gets the same refusal, so that a caller cannot find out which channels of others exist.
    if (channel?.client.principal !== client.principal || channel.socket.isFinished)
      return refuse(socket, CloseCode.channelUnknown, 'there is no such channel');
    this.#stopWaiting(channel);
    this.#sayHello(socket, channel);
    channel.socket.attach(socket, hello.received);
    return undefined;
  }

  #open(socket: MessageSocket, client: Client, clock: Clock): MessageSocket {
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    const owner = {
      onDetached: () => this.#wait(channel, clock),
      onStored: () => this.#makeRoom(),
      onFinished: () => this.#forget(channel),
    };
    const channel: Channel = { id, client, socket: new ResumingSocket(owner), timer: undefined };
    this.#channels.set(id, channel);
    this.#sayHello(socket, channel);
    channel.socket.attach(socket, 0);
    return channel.socket;
  }

  #sayHello(socket: MessageSocket, { id, socket: { received } }: Channel): void {
    socket.send(encodeFrame({ channel: id, received, windowMs: this.#windowMs }));
  }

  #wait(channel: Channel, clock: Clock): void {
    this.#waiting.add(channel);
    channel.timer = clock.schedule(() => channel.socket.giveUp(), this.#windowMs);
    this.#makeRoom();
  }

  #makeRoom(): void {
    const channels = [...this.#waiting];
    let stored = channels.reduce((sum, channel) => sum + storedBy(channel), 0);
    while (this.#waiting.size > this.#maxWaiting || stored > MAX_STORED) {
      const channel = this.#longestOfMost();
      if (!channel) return;
      stored -= storedBy(channel);
      channel.socket.giveUp();
    }
  }

  /** Chooses the channel to end: the longest waiting of the `limitKey` with the most. One client thus cannot push out those of others. */
  #longestOfMost(): Channel | undefined {
    const byKey = new Map<string, { readonly longest: Channel; stored: number }>();
    for (const channel of this.#waiting) {
      const own = byKey.get(channel.client.key) ?? { longest: channel, stored: 0 };
      own.stored += storedBy(channel);
      byKey.set(channel.client.key, own);
    }
    return [...byKey.values()].sort((one, other) => other.stored - one.stored)[0]?.longest;
  }

  #stopWaiting(channel: Channel): void {
    this.#waiting.delete(channel);
    channel.timer?.cancel();
    channel.timer = undefined;
  }

  #forget(channel: Channel): void {
    this.#stopWaiting(channel);
    this.#channels.delete(channel.id);
  }
}

function storedBy({ socket }: Channel): number {
  return Math.max(socket.queuedBytes, LEAST_STORED);
}

function refuse(socket: MessageSocket, code: number, reason: string): undefined {
  socket.resume();
  socket.close(code, reason);
}
