import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { describeTransport } from '@mortise/transport-testkit/vitest';

for (const passBy of ['reference', 'json'] as const) {
  describeTransport(`the in-memory pair by ${passBy}`, {
    async createPair() {
      const [client, server] = createInMemoryPair({ passBy });
      return { client, server, close: async () => undefined };
    },
    traits: { backpressure: true, independentStart: true, handles: true },
  });
}
