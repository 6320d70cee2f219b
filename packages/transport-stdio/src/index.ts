/** `@mortise/transport-stdio`: the framing of stdio, for custom transports over any stream of bytes. */

// What programs use.
export { StreamTransport, type StreamTransportOptions } from './stream-transport.ts';
export type { AnyStdioError } from './errors.ts';

// What implementers of transports use.
export { type ByteChannel, type ChannelControl, type ChannelEnd, duplexChannel, type OpenChannel } from './byte-channel.ts';
export type { WriteText } from './line-writer.ts';
