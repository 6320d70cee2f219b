/** Every wrapper around every transport: what is wrapped works as before, in the same era. */

import { McpClient, type ClientTransportSource } from '@mortise/client';
import type { Transport } from '@mortise/jsonrpc-core';
import { silentLogger, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { withLogging, withMetrics, withReconnect } from '@mortise/jsonrpc-core/wrap';
import { type RecordedMessage, withFaults, withRecord, withReplay } from '@mortise/transport-testkit/wrap';
import { describe, expect, it } from 'vitest';
import { createCalculator } from '../src/calculator.ts';
import { transports } from '../src/transports.ts';

const info = { name: 'wrapped', version: '1.0.0' };
const recording: RecordedMessage[] = [];

type Wrapped = (inner: never) => ClientTransportSource;

const wrappers: Readonly<Record<string, Wrapped>> = {
  withLogging: (inner) => withLogging(inner, { logger: silentLogger }),
  withMetrics: (inner) => withMetrics(inner, { meter: { count: () => undefined, record: () => undefined } }),
  withRecord: (inner) => withRecord(inner, (entry) => recording.push(entry)),
  withFaults: (inner) => withFaults(inner, { seed: 1 }),
  'all of them': (inner) => {
    const logged = withLogging<Transport & TransportFactory>(inner, { logger: silentLogger });
    return withRecord(withMetrics(logged, { meter: { count: () => undefined, record: () => undefined } }), () => undefined);
  },
};

// The server over stdio is a process of its own, built; here the others are enough.
const reaches = Object.entries(transports).filter(([name]) => name !== 'stdio');
const cases = reaches.flatMap(([transport, reach]) =>
  Object.entries(wrappers).map(([wrapper, wrap]) => ({ transport, reach, wrapper, wrap })),
);

async function useCalculator(client: McpClient): Promise<void> {
  expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
  const steps: number[] = [];
  await client.callTool('count', { to: 3 }, { onProgress: ({ progress }) => void steps.push(progress) });
  // A server may leave steps out that a later one makes old.
  expect(steps.at(-1)).toBe(3);
  expect((await client.readResource('calculator://about')).contents).toMatchObject([{ text: 'Adds two numbers.' }]);
}

describe.each(['modern', 'legacy'] as const)('%s', (era) => {
  it.each(cases)('$wrapper around $transport', async ({ reach, wrap }) => {
    const { transport, close } = await reach(createCalculator());
    const client = await McpClient.connect(wrap(transport as never), info, era === 'modern' ? {} : { era });
    // Found out, not told: what is wrapped keeps the ability to speak the newest revision.
    expect(client.era).toBe(era);
    await useCalculator(client);
    await client.close();
    await close();
  });

  it.each(reaches.filter(([name]) => name === 'newlines' || name === 'websocket'))('withReconnect around %s', async (_name, reach) => {
    const { transport, close } = await reach(createCalculator());
    const client = await McpClient.connect(withReconnect(transport as TransportFactory), info, { era });
    await useCalculator(client);
    await client.close();
    await close();
  });

  it('withReplay plays what withRecord wrote down', async () => {
    const { transport, close } = await transports.memory(createCalculator());
    const entries: RecordedMessage[] = [];
    const recorded = await McpClient.connect(
      withRecord(transport as Transport, (entry) => entries.push(entry)),
      info,
      { era },
    );
    await useCalculator(recorded);
    await recorded.close();
    await close();
    const replayed = await McpClient.connect(withReplay(entries), info, { era });
    await useCalculator(replayed);
    await replayed.close();
  });
});
