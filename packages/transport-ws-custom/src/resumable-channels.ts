/** The server's end of `mortise.resume.v1`: the channels that are open, with a socket or waiting for one. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { EventStore } from '@mortise/protocol/contracts';
import { CloseCode } from './close-codes.ts';
import { readGreeting } from './greeting.ts';
import type { MessageSocket } from './message-socket.ts';
import { encodeServerHello, parseClientHello } from './resume-frames.ts';
import { type ChannelOwner, ResumingSocket } from './resuming-socket.ts';
import { StoredSentLog } from './sent-log.ts';

/** How long and how many channels are kept. */
export interface ResumeBounds {
  readonly eventStore: EventStore;
  /** How long a channel waits for its client, in milliseconds. */
  readonly windowMs: number;
  /** How many may wait; past it, of the owner with the most of them the one that has waited longest goes. */
  readonly maxWaiting: number;
  readonly clock: Clock;
}

/** Who opens a channel. */
export interface ChannelClient {
  /** Whose the channel is: nobody else goes on with it. */
  readonly principal: string;
  /** What it is counted under, as its connections are. */
  readonly key: string;
}

const GREETING_MS = 10_000;
const ID_BYTES = 24;

export class ResumableChannels {
  readonly #bounds: ResumeBounds;
  readonly #channels = new Map<string, Channel>();
  /** In the order in which they began to wait. */
  readonly #waiting = new Set<Channel>();

  constructor(bounds: ResumeBounds) {
    this.#bounds = bounds;
  }

  /** How many wait for their client. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Reads what a fresh socket is for, and opens its channel or goes on with it.
   *
   * @returns The channel if it is new and has to be served.
   * @throws Whatever ends the socket before it has said hello.
   */
  async accept(socket: MessageSocket, client: ChannelClient, signal: AbortSignal): Promise<MessageSocket | undefined> {
    const { first, rest } = await readGreeting(socket, GREETING_MS, this.#bounds.clock, signal);
    const hello = parseClientHello(first);
    if (!hello || rest.length > 0) return this.#refuse(socket, CloseCode.unsupportedData, 'the first frame must say hello');
    if (hello.channel === null) return this.#open(socket, client);
    const channel = this.#channels.get(hello.channel);
    // Somebody else's channel is no channel, and neither is one that ends.
    if (channel?.client.principal !== client.principal || channel.socket.isFinished)
      return this.#refuse(socket, CloseCode.channelUnknown, 'there is no such channel');
    this.#stopWaiting(channel);
    this.#sayHello(socket, channel);
    await channel.socket.attach(socket, hello.received);
    return undefined;
  }

  async #open(socket: MessageSocket, client: ChannelClient): Promise<MessageSocket> {
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    const channel = new Channel(id, client, this.#bounds.eventStore, {
      onDetached: () => this.#wait(channel),
      onFinished: () => this.#forget(channel),
    });
    this.#channels.set(id, channel);
    this.#sayHello(socket, channel);
    await channel.socket.attach(socket, 0);
    return channel.socket;
  }

  #sayHello(socket: MessageSocket, { id, socket: { received } }: Channel): void {
    socket.send(encodeServerHello({ channel: id, received, windowMs: this.#bounds.windowMs }), undefined);
  }

  #refuse(socket: MessageSocket, code: number, reason: string): undefined {
    socket.resume();
    socket.close(code, reason);
  }

  #wait(channel: Channel): void {
    this.#waiting.add(channel);
    channel.timer = this.#bounds.clock.schedule(() => channel.socket.giveUp(undefined), this.#bounds.windowMs);
    if (this.#waiting.size <= this.#bounds.maxWaiting) return;
    this.#longestOfMost()?.socket.giveUp(undefined);
  }

  /** So that one who opens and breaks many pushes out nobody else. */
  #longestOfMost(): Channel | undefined {
    const longest = new Map<string, { readonly channel: Channel; count: number }>();
    for (const channel of this.#waiting) {
      const known = longest.get(channel.client.key);
      if (known) known.count++;
      else longest.set(channel.client.key, { channel, count: 1 });
    }
    let most: { readonly channel: Channel; count: number } | undefined;
    for (const one of longest.values()) if (!most || one.count > most.count) most = one;
    return most?.channel;
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

class Channel {
  readonly id: string;
  readonly client: ChannelClient;
  readonly socket: ResumingSocket;
  timer: ClockTimer | undefined;

  constructor(id: string, client: ChannelClient, store: EventStore, owner: ChannelOwner) {
    this.id = id;
    this.client = client;
    this.socket = new ResumingSocket(new StoredSentLog(store, id), owner);
  }
}
