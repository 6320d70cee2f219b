/**
 * One channel over any number of sockets, one after another: what `mortise.resume.v1` adds to a WebSocket. To the transport above it is one
 * socket that does not break. Each side counts what came, and after a break what the other side did not get is sent again, in order.
 */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { SocketClosedError } from '../errors.ts';
import type { MessageSocket, SocketListener } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, isControlFrame, parseAck } from './frames.ts';

/** What a channel calls. */
export interface ChannelOwner {
  /** The socket broke. The owner attaches another one, or ends the channel. */
  onDetached(): void;
  /** The channel has ended. Called once. */
  onFinished(): void;
}

/** After so many messages, or so many characters, the peer gets an acknowledgement. */
const ACK_MESSAGES = 32;
const ACK_LENGTH = 64 * 1024;

export class ResumingSocket implements MessageSocket {
  readonly #owner: ChannelOwner;
  readonly #sent = new SentLog();
  #listener: SocketListener | undefined;
  #socket: MessageSocket | undefined;
  /** What came before `listen`. */
  readonly #early: string[] = [];
  /** What the listener has got, in messages and, since the last acknowledgement, in characters. */
  #received = 0;
  #acknowledged = 0;
  #unacknowledgedLength = 0;
  #isPaused = true;
  #isFinished = false;
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor(owner: ChannelOwner) {
    this.#owner = owner;
  }

  /** How many messages have come. */
  get received(): number {
    return this.#received;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** How much waits: for the network, for another socket, or for the peer to acknowledge it. */
  get queuedBytes(): number {
    return Math.max(this.#socket?.queuedBytes ?? 0, this.#sent.length);
  }

  /**
   * Goes on with another socket; one that is still there is dropped. Where the peer has not got a message that it acknowledged, the channel
   * ends.
   *
   * @param peerReceived How many messages the peer has got; what came after them is sent again.
   * @param early What the socket has brought already.
   */
  attach(socket: MessageSocket, peerReceived: number, early: readonly string[] = []): void {
    const old = this.#socket;
    this.#socket = socket;
    this.#acknowledged = this.#received;
    this.#unacknowledgedLength = 0;
    old?.terminate();
    // Before anything is read, whose answer would overtake what is sent again.
    if (!this.#sent.acknowledge(peerReceived)) this.close(CloseCode.channelUnknown, 'what was sent is not kept any more');
    else for (const text of this.#sent.texts) socket.send(text);
    socket.listen(this.#listenTo(socket));
    if (this.#isPaused) socket.pause();
    for (const text of early) this.#onText(text);
    this.#listener?.onRoom();
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    for (const text of this.#early.splice(0)) listener.onText(text);
    if (this.#end) listener.onEnd(this.#end.code, this.#end.reason);
    else this.resume();
  }

  send(text: string): void {
    this.#sent.append(text);
    this.#socket?.send(text);
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket?.resume();
  }

  close(code: number, reason: string): void {
    this.#isFinished = true;
    if (this.#socket) this.#socket.close(code, reason);
    else this.#finish(code, reason);
  }

  terminate(): void {
    this.#isFinished = true;
    if (this.#socket) this.#socket.terminate();
    else this.#finish(CloseCode.abnormal, '');
  }

  beat(): boolean {
    // A peer that is gone may come back on another socket; the channel's owner waits for it.
    if (this.#socket?.beat?.() === false) this.#socket.terminate();
    return true;
  }

  /** Ends a channel that has no socket and will get none. */
  giveUp(error?: unknown): void {
    if (isMortiseError(error)) this.#listener?.onError(error);
    this.#finish(CloseCode.abnormal, '');
  }

  /** Passes on the events of a socket until another one has replaced it. */
  #listenTo(socket: MessageSocket): SocketListener {
    const ifPresent = (fn: () => void): void => {
      if (this.#socket === socket) fn();
    };
    return {
      onText: (text) => ifPresent(() => this.#onText(text)),
      onBinary: () => ifPresent(() => this.#listener?.onBinary()),
      // A network that broke is no error yet; a peer that breaks rules is.
      onError: (error) => ifPresent(() => isMortiseError(error) && this.#listener?.onError(error)),
      onRoom: () => ifPresent(() => this.#listener?.onRoom()),
      onEnd: (code, reason) => ifPresent(() => this.#onEnd(code, reason)),
    };
  }

  #onText(text: string): void {
    if (isControlFrame(text)) return this.#onControl(text);
    this.#received++;
    this.#unacknowledgedLength += text.length;
    if (this.#listener) this.#listener.onText(text);
    else this.#early.push(text);
    if (this.#received - this.#acknowledged >= ACK_MESSAGES || this.#unacknowledgedLength >= ACK_LENGTH) this.#sendAck();
  }

  #onControl(text: string): void {
    const count = parseAck(text);
    if (count !== undefined && this.#sent.acknowledge(count)) return this.#listener?.onRoom();
    const message = 'The peer sent a control frame that breaks the rules of mortise.resume.v1';
    this.#listener?.onError(new SocketClosedError(CloseCode.unsupportedData, message));
  }

  #sendAck(): void {
    if (!this.#socket) return;
    this.#acknowledged = this.#received;
    this.#unacknowledgedLength = 0;
    this.#socket.send(encodeFrame({ ack: this.#received }));
  }

  #onEnd(code: number, reason: string): void {
    this.#socket = undefined;
    if (code !== CloseCode.abnormal || this.#isFinished) return this.#finish(code, reason);
    this.#owner.onDetached();
  }

  #finish(code: number, reason: string): void {
    if (this.#end) return;
    this.#isFinished = true;
    this.#end = { code, reason };
    this.#sent.clear();
    this.#owner.onFinished();
    this.#listener?.onEnd(code, reason);
  }
}

/** What one side has sent and the other has not acknowledged. Messages are counted from 1. */
class SentLog {
  texts: string[] = [];
  /** In characters. */
  length = 0;
  #acknowledged = 0;

  append(text: string): void {
    this.texts.push(text);
    this.length += text.length;
  }

  /** The first `count` messages need not be kept. @returns false for a number that was acknowledged before, or never sent. */
  acknowledge(count: number): boolean {
    const added = count - this.#acknowledged;
    if (added < 0 || added > this.texts.length) return false;
    for (const text of this.texts.splice(0, added)) this.length -= text.length;
    this.#acknowledged = count;
    return true;
  }

  clear(): void {
    this.texts = [];
    this.length = 0;
  }
}
