/** What a `StreamTransport` is given to move its lines over. */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { WriteText } from './line-writer.ts';

/**
 * Why a channel ended: this side closed it, the peer ended its stream, or the peer is gone (its process, or its end of the
 * pipe), so that nothing written would be read.
 */
export type ChannelEnd = 'closed' | 'peer-ended' | 'peer-gone';

/** Two byte streams to one peer. A duplex stream, such as a socket, may be both. */
export interface ByteChannel {
  /** What the peer sends. Flows from `start` on. */
  readonly input: Readable;
  /** What the peer reads. */
  readonly output: Writable;
  /** Writes UTF-8 text to `output`. @default output.write */
  readonly write?: WriteText | undefined;
  /**
   * Frees the channel. Called once, after everything accepted has been written as far as the peer would read it.
   * `onclose` follows when it settles.
   *
   * @param hasSpoken Whether the peer has sent a message.
   * @default nothing is freed: the program ends the streams itself
   */
  release?(end: ChannelEnd, hasSpoken: boolean): void | Promise<void>;
}

/** How the opener of a channel reports what happens to it later. */
export interface ChannelControl {
  /** Reports an error that does not end the channel. */
  report(error: Error): void;
  /** Ends the transport at once, because the peer is gone. */
  peerGone(): void;
}

/** Opens the channel of a transport, once, when it is started. */
export type OpenChannel = (control: ChannelControl) => ByteChannel | Promise<ByteChannel>;

/**
 * Makes a channel of one duplex stream, such as a socket, which is ended and destroyed on close.
 *
 * @param stream Open. A socket made with `allowHalfOpen: true` still carries answers after its peer has ended its half.
 */
export function duplexChannel(stream: Duplex): ByteChannel {
  return {
    input: stream,
    output: stream,
    release() {
      // What a slow reader has not taken by now it is not waited for again.
      if (stream.writableLength > 0 || stream.destroyed) stream.destroy();
      else stream.end(() => stream.destroy());
    },
  };
}
