/**
 * A resumable channel of `mortise.resume.v1`: uses one WebSocket after another, and looks like a single socket to the transport. Each side
 * counts the messages that it receives. After a break each side sends again, in order, the messages that the other has not received.
 */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { SocketClosedError } from '../errors.ts';
import type { MessageSocket, SocketListener } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, isControlFrame, parseAck } from './frames.ts';

/** The callbacks through which a `ResumingSocket` reports a broken connection and its end. */
export interface ChannelOwner {
  /** Called when the current WebSocket broke. The owner must then call `attach` with another socket, or `giveUp`. */
  onDetached(): void;
  /** Called when a message was stored while there is no WebSocket. */
  onStored?(): void;
  /** Called once, when the channel has ended. */
  onFinished(): void;
}

/** An acknowledgement is sent after this many messages, or after `ACK_LENGTH` characters. */
const ACK_MESSAGES = 32;
const ACK_LENGTH = 64 * 1024;

export class ResumingSocket implements MessageSocket {
  readonly #owner: ChannelOwner;
  readonly #sent = new SentLog();
  #listener: SocketListener | undefined;
  #socket: MessageSocket | undefined;
  /** The messages that arrived before the call of `listen`. */
  readonly #early: string[] = [];
  /** The number of messages received on this channel. */
  #received = 0;
  #acknowledged = 0;
  #unacknowledgedLength = 0;
  #isPaused = true;
  #isFinished = false;
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor(owner: ChannelOwner) {
    this.#owner = owner;
  }

  /** How many messages this channel has received, over all its sockets. */
  get received(): number {
    return this.#received;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** The larger of two amounts: what is sent but not acknowledged by the peer, and what waits for the network. */
  get queuedBytes(): number {
    return Math.max(this.#socket?.queuedBytes ?? 0, this.#sent.length);
  }

  /**
   * Continues the channel on `socket` and terminates the previous socket. Ends the channel if `peerReceived` is lower than an earlier
   * acknowledgement, or higher than the number of sent messages.
   *
   * @param peerReceived How many messages the peer has received. All later ones are sent again.
   * @param early Messages that were already read from `socket`.
   */
  attach(socket: MessageSocket, peerReceived: number, early: readonly string[] = []): void {
    const old = this.#socket;
    this.#socket = socket;
    this.#acknowledged = this.#received;
    this.#unacknowledgedLength = 0;
    old?.terminate();
    // Messages are repeated before reading starts, so that a response to a new message does not overtake them.
    if (!this.#sent.acknowledge(peerReceived)) this.close(CloseCode.channelUnknown, 'the messages to repeat are no longer stored');
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
    if (this.#socket) this.#socket.send(text);
    else this.#owner.onStored?.();
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
    // A dead socket does not end the channel, so this returns true: the client may reconnect.
    if (this.#socket?.beat?.() === false) this.#socket.terminate();
    return true;
  }

  /** Ends the channel while it has no socket, for example after failed attempts to reconnect. Reports a `MortiseError` first. */
  giveUp(error?: unknown): void {
    if (isMortiseError(error)) this.#listener?.onError(error);
    this.#finish(CloseCode.abnormal, '');
  }

  /** Passes on the events of a socket until `attach` replaces that socket by another. */
  #listenTo(socket: MessageSocket): SocketListener {
    const ifPresent = (fn: () => void): void => {
      if (this.#socket === socket) fn();
    };
    return {
      onText: (text) => ifPresent(() => this.#onText(text)),
      onBinary: () => ifPresent(() => this.#listener?.onBinary()),
      // Only protocol errors are reported: after a network error the channel may continue.
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
    const message = 'The peer sent a control frame that is not valid mortise.resume.v1';
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

/** Stores the sent messages that the peer has not acknowledged, to send them again after a break. */
class SentLog {
  texts: string[] = [];
  /** The length of all stored messages together, in characters. */
  length = 0;
  #acknowledged = 0;

  append(text: string): void {
    this.texts.push(text);
    this.length += text.length;
  }

  /** Removes the first `count` messages sent. @returns false if `count` is below an earlier one or above the number of sent messages. */
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
