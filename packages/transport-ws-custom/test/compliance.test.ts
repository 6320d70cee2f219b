import { setPatience, toKitSetup, transportCases, type TransportSetup } from '@mortise/transport-testkit';
import { describeKit, describeTransport } from '@mortise/transport-testkit/vitest';
import { WebSocket } from 'ws';
import type { WebSocketConstructor } from '../src/client.ts';
import { createSocketPair } from './support/socket-pair.ts';

// Reached only where something never happens: real sockets on a busy machine take their time.
setPatience(60_000);

const overFrames: TransportSetup = {
  traits: { bound: true, frames: true, backpressure: true, handles: true },
  createPair: (options) => createSocketPair(options),
};

// RFC 6455 section 8.1: a text frame that is not UTF-8 fails the connection, so there is no next one. `hostile.test.ts` shows it.
describeKit(
  'a WebSocket, by its parts',
  transportCases.filter(({ id }) => id !== 'T5.3'),
  toKitSetup(overFrames),
);

describeTransport('webSocketTransport', {
  traits: { bound: true, backpressure: true, handles: true },
  createPair: (options) => createSocketPair({ ...options, isWholeClient: true }),
});

describeTransport("webSocketTransport over a platform's own WebSocket", {
  traits: { bound: true, backpressure: true, handles: true },
  createPair: (options) => createSocketPair({ ...options, isWholeClient: true, webSocket: WebSocket as unknown as WebSocketConstructor }),
});

describeTransport('webSocketTransport, resumable', {
  traits: { bound: true, backpressure: true, handles: true },
  createPair: (options) => createSocketPair({ ...options, isWholeClient: true, isResumable: true }),
});
