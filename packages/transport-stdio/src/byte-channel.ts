/** The byte streams that a `StreamTransport` reads and writes. */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { WriteText } from './line-writer.ts';

/**
 * Why a channel ended. `closed`: this side closed it. `peer-ended`: the peer ended its stream. `peer-gone`: the peer's process or its end
 * of the pipe is gone, so nothing that is written would be read.
 */
export type ChannelEnd = 'closed' | 'peer-ended' | 'peer-gone';

/** The two byte streams to one peer. `input` and `output` may be the same duplex stream, such as a socket. */
export interface ByteChannel {
  /** The bytes from the peer. `start` begins to read them. */
  readonly input: Readable;
  /** The bytes to the peer. */
  readonly output: Writable;
  /** Writes UTF-8 text to `output`. @default output.write */
  readonly write?: WriteText | undefined;
  /**
   * Frees the channel. Called once, after the accepted messages have been written, as far as the peer reads them. `onclose` is called when
   * the returned promise settles.
   *
   * @param hasSpoken Whether the peer has sent a message.
   * @default frees nothing: the program ends the streams itself
   */
  release?(end: ChannelEnd, hasSpoken: boolean): void | Promise<void>;
}

/** Lets an `OpenChannel` function report later events of its channel to the transport. */
export interface ChannelControl {
  /** Reports an error that does not end the channel. */
  report(error: Error): void;
  /** Ends the transport at once, because the peer is gone. */
  peerGone(): void;
}

/** Opens the channel of a transport. Called once, by `start`. */
export type OpenChannel = (control: ChannelControl) => ByteChannel | Promise<ByteChannel>;

/**
 * Makes a channel from one duplex stream, such as a socket. Closing the channel ends and destroys the stream.
 *
 * @param stream An open stream. Create a socket with `allowHalfOpen: true` to send responses after the peer has ended its half.
 */
export function duplexChannel(stream: Duplex): ByteChannel {
  return {
    input: stream,
    output: stream,
    release() {
      // The flush has already waited for a slow reader.
      if (stream.writableLength > 0 || stream.destroyed) stream.destroy();
      else stream.end(() => stream.destroy());
    },
  };
}
