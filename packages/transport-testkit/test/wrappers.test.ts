/** Every wrapper, proved by the kit: around a transport that keeps its promises it keeps them, too. */

import { createInMemoryPair, type Transport } from '@mortise/jsonrpc-core';
import { type ExchangeTransport, silentLogger, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { withLogging, withMetrics, withReconnect } from '@mortise/jsonrpc-core/wrap';
import { describeExchange, describeTransport } from '@mortise/transport-testkit/vitest';
import { withFaults, withRecord } from '@mortise/transport-testkit/wrap';
import { describe, expect, it } from 'vitest';
import { createSmallExchange } from './small-exchange.ts';

type Wrap = <T extends Transport | TransportFactory>(inner: T) => T;

const noMeter = { count: () => undefined, record: () => undefined };

const wrappers: Readonly<Record<string, Wrap>> = {
  withLogging: (inner) => withLogging(inner, { logger: silentLogger }),
  withMetrics: (inner) => withMetrics(inner, { meter: noMeter }),
  withRecord: (inner) => withRecord(inner, () => undefined),
  withFaults: (inner) => withFaults(inner, { seed: 1 }),
};

for (const [name, wrap] of Object.entries(wrappers)) {
  describeTransport(`${name} around the in-memory pair`, {
    async createPair() {
      const [client, server] = createInMemoryPair();
      return { client: wrap<Transport>(client), server: wrap<Transport>(server), close: async () => undefined };
    },
    traits: { backpressure: true, independentStart: true, handles: true },
  });

  describeExchange(`${name} around an exchange`, {
    async createPair(answer) {
      const inner = createSmallExchange(answer);
      return { client: wrap(inner as Transport & ExchangeTransport), close: async () => undefined };
    },
  });
}

describe('withReconnect', () => {
  it("keeps what its transport can do: exchanges, and the other era's door", () => {
    const exchange = async (): Promise<never> => Promise.reject(new Error('nobody'));
    const [near] = createInMemoryPair();
    const able = Object.assign(near, { exchange, openLegacy: async () => near });
    const wrapped = withReconnect(() => able);
    expect(Object.keys(wrapped)).toEqual(expect.arrayContaining(['exchange', 'openLegacy']));
  });
});
