/**
 * One channel over any number of sockets, one after another: what `mortise.resume.v1` adds to a WebSocket. To the transport above it is one
 * socket that does not break. Each side counts what came, and after a break what the other side did not get is sent again, in order.
 */

import { isMortiseError, type JsonRpcMessage } from '@mortise/jsonrpc-core';
import { SocketClosedError } from '../errors.ts';
import type { MessageSocket, SocketListener } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';
import { encodeFrame, isControlFrame, parseAck } from './frames.ts';
import type { SentLog } from './sent-log.ts';

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
  readonly #log: SentLog;
  readonly #owner: ChannelOwner;
  #listener: SocketListener | undefined;
  #link: Link | undefined;
  /** What came before anyone listened: the rest of one read of the network. */
  readonly #early: string[] = [];
  /** What the listener has got, in messages and, since the last acknowledgement, in characters. */
  #received = 0;
  #acknowledged = 0;
  #unacknowledgedLength = 0;
  /** What was sent while there was no socket. */
  #waitingLength = 0;
  #isPaused = true;
  #isFinished = false;
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor(log: SentLog, owner: ChannelOwner) {
    this.#log = log;
    this.#owner = owner;
  }

  /** How many messages have come. */
  get received(): number {
    return this.#received;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** How much waits: for the network, for another socket, or for the peer to say that it came. */
  get queuedBytes(): number {
    return Math.max(this.#link?.socket.queuedBytes ?? 0, this.#waitingLength, this.#log.keptLength);
  }

  /**
   * Goes on with another socket; one that is still there is dropped.
   *
   * @param peerReceived How many messages the peer has got; what came after them is sent again.
   * @param early What the socket has brought already.
   * @returns false where they are not kept any more: the channel has then ended.
   */
  async attach(socket: MessageSocket, peerReceived: number, early: readonly string[] = []): Promise<boolean> {
    const link = this.#replaceLink(socket);
    for (const text of early) link.onText(text);
    if (!this.#log.acknowledge(peerReceived)) return this.#giveUp();
    let sent = peerReceived;
    // While the log is asked, more may be sent; nothing is overtaken.
    while (sent < this.#log.count) {
      const wanted = this.#log.count - sent;
      const texts = await this.#log.after(sent);
      if (this.#link !== link || this.#isFinished) return false;
      if (texts === undefined || texts.length < wanted) return this.#giveUp();
      for (const text of texts) socket.send(text, undefined);
      sent += texts.length;
    }
    this.#waitingLength = 0;
    link.isJoined = true;
    this.#listener?.onRoom();
    return true;
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    for (const text of this.#early.splice(0)) listener.onText(text);
    if (this.#end) listener.onEnd(this.#end.code, this.#end.reason);
    else this.resume();
  }

  send(text: string, message: JsonRpcMessage): void {
    this.#log.append(text, message);
    if (this.#link?.isJoined) this.#link.socket.send(text, undefined);
    else this.#waitingLength += text.length;
  }

  pause(): void {
    this.#isPaused = true;
    this.#link?.socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#link?.socket.resume();
  }

  close(code: number, reason: string): void {
    this.#isFinished = true;
    if (this.#link) this.#link.socket.close(code, reason);
    else this.#finish(code, reason);
  }

  terminate(): void {
    this.#isFinished = true;
    if (this.#link) this.#link.socket.terminate();
    else this.#finish(CloseCode.abnormal, '');
  }

  beat(): boolean {
    // A peer that is gone may come back on another socket; the channel's owner waits for it.
    if (this.#link && this.#link.socket.beat?.() === false) this.#link.socket.terminate();
    return true;
  }

  #replaceLink(socket: MessageSocket): Link {
    const old = this.#link;
    const link = new Link(this, socket);
    this.#link = link;
    this.#acknowledged = this.#received;
    this.#unacknowledgedLength = 0;
    old?.socket.terminate();
    socket.listen(link);
    if (this.#isPaused) socket.pause();
    return link;
  }

  /** Ends a channel that has no socket and will get none. */
  giveUp(error: unknown): void {
    if (isMortiseError(error)) this.#listener?.onError(error);
    this.#finish(CloseCode.abnormal, '');
  }

  #giveUp(): false {
    this.close(CloseCode.channelUnknown, 'what was sent is not kept any more');
    return false;
  }

  // ---- from the socket; a `Link` passes on the events of the present one alone

  isPresent(link: Link): boolean {
    return this.#link === link;
  }

  onText(text: string): void {
    if (isControlFrame(text)) return this.#onControl(text);
    this.#received++;
    this.#unacknowledgedLength += text.length;
    if (this.#listener) this.#listener.onText(text);
    else this.#early.push(text);
    if (this.#received - this.#acknowledged >= ACK_MESSAGES || this.#unacknowledgedLength >= ACK_LENGTH) this.#sendAck();
  }

  onBinary(): void {
    this.#listener?.onBinary();
  }

  onError(error: Error): void {
    // A network that broke is no error yet; a peer that breaks rules is.
    if (isMortiseError(error)) this.#listener?.onError(error);
  }

  onRoom(): void {
    this.#listener?.onRoom();
  }

  onEnd(code: number, reason: string): void {
    this.#link = undefined;
    if (code !== CloseCode.abnormal || this.#isFinished) return this.#finish(code, reason);
    this.#owner.onDetached();
  }

  #onControl(text: string): void {
    const count = parseAck(text);
    if (count !== undefined && this.#log.acknowledge(count)) return this.#listener?.onRoom();
    const message = 'The peer sent a control frame that breaks the rules of mortise.resume.v1';
    this.#listener?.onError(new SocketClosedError(CloseCode.unsupportedData, message));
  }

  #sendAck(): void {
    if (!this.#link) return;
    this.#acknowledged = this.#received;
    this.#unacknowledgedLength = 0;
    this.#link.socket.send(encodeFrame({ ack: this.#received }), undefined);
  }

  #finish(code: number, reason: string): void {
    if (this.#end) return;
    this.#isFinished = true;
    this.#end = { code, reason };
    this.#log.clear();
    this.#owner.onFinished();
    this.#listener?.onEnd(code, reason);
  }
}

/** One socket of a channel. Once another one has replaced it, its events are dropped. */
class Link implements SocketListener {
  readonly #channel: ResumingSocket;
  readonly socket: MessageSocket;
  /** Whether what was sent before is on its way, so that new messages may follow. */
  isJoined = false;

  constructor(channel: ResumingSocket, socket: MessageSocket) {
    this.#channel = channel;
    this.socket = socket;
  }

  onText(text: string): void {
    if (this.#channel.isPresent(this)) this.#channel.onText(text);
  }

  onBinary(): void {
    if (this.#channel.isPresent(this)) this.#channel.onBinary();
  }

  onError(error: Error): void {
    if (this.#channel.isPresent(this)) this.#channel.onError(error);
  }

  onRoom(): void {
    if (this.#channel.isPresent(this)) this.#channel.onRoom();
  }

  onEnd(code: number, reason: string): void {
    if (this.#channel.isPresent(this)) this.#channel.onEnd(code, reason);
  }
}
