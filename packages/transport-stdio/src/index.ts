/** `@mortise/transport-stdio`: the framing of stdio (one message a line), for custom transports over any byte stream. */

// For programs.
export { StreamTransport, type StreamTransportOptions } from './stream-transport.ts';
export type { AnyStdioError } from './errors.ts';

// For implementers of transports.
export { type ByteChannel, type ChannelControl, type ChannelEnd, duplexChannel, type OpenChannel } from './byte-channel.ts';
export type { WriteText } from './line-writer.ts';
