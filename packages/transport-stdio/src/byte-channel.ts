/** The byte streams that a `StreamTransport` reads and writes. */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { WriteText } from './line-writer.ts';

/**
 * Why the connection to a peer ended. `closed`: this side closed it. `peer-ended`: the peer ended its stream. `peer-gone`: the peer's
 * process or its end of the pipe is gone, so nothing that is written would be read.
 */
export type ChannelEnd = 'closed' | 'peer-ended' | 'peer-gone';

/** The two byte streams to one peer. `input` and `output` may be the same duplex stream, such as a socket. */
export interface ByteChannel {
  /** The stream of bytes from the peer. The transport's `start` begins to read it. */
  readonly input: Readable;
  /** The stream of bytes to the peer. */
  readonly output: Writable;
  /** Writes UTF-8 text to `output`. @default output.write */
  readonly write?: WriteText | undefined;
  /**
   * Frees what the streams use, such as a child process. Called once at the end, after the messages passed to `send` have been written, as
   * far as the peer reads them. The transport calls `onclose` when the returned promise settles.
   *
   * @param hasSpoken Whether the peer has sent a message.
   * @default frees nothing: the program ends the streams itself
   */
  release?(end: ChannelEnd, hasSpoken: boolean): void | Promise<void>;
}

/** Functions with which an opened channel reports later events to its transport. */
export interface ChannelControl {
  /** Passes an error that does not end the connection to the transport's `onerror`. */
  report(error: Error): void;
  /** Closes the transport at once, because the peer is gone. */
  peerGone(): void;
}

/** Opens the two byte streams of a transport. Called once, by the transport's `start`. */
export type OpenChannel = (control: ChannelControl) => ByteChannel | Promise<ByteChannel>;

/**
 * Makes a `ByteChannel` from one duplex stream, such as a socket. Closing the transport ends and destroys the stream.
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
