import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { createInMemoryExchange } from '@mortise/jsonrpc-core/transport';
import { describeExchange, describeTransport } from '@mortise/transport-testkit/vitest';

for (const passBy of ['reference', 'json'] as const) {
  describeTransport(`the in-memory pair by ${passBy}`, {
    async createPair() {
      const [client, server] = createInMemoryPair({ passBy });
      return { client, server, close: async () => undefined };
    },
    traits: { backpressure: true, independentStart: true, handles: true },
  });
}

describeExchange('the in-memory exchange', {
  async createPair(answer) {
    const client = createInMemoryExchange((request, call) =>
      answer(request, { signal: call.signal, notify: (message) => call.onMessage(message) }),
    );
    return { client, close: async () => undefined };
  },
});
