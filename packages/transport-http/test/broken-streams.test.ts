/** A hundred connections cut in the middle of a stream, in places that a printed seed fixes, with the real client and the real server. */

import { readdirSync } from 'node:fs';
import { getEventListeners } from 'node:events';
import { McpClient } from '@mortise/client';
import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { turn, until } from './client/support/wait.ts';
import { SENDERS } from './client/support/senders.ts';
import { CuttingProxy, seededRandom } from './support/cutting-proxy.ts';
import { serve, type Serving } from './support/serve.ts';

const CUTS = 100;
const LANES = 8;
/** As many as go out unmerged. */
const STEPS = 20;
/** About as long as the stream of one call, so that cuts fall anywhere in it. */
const STREAM_BYTES = 4_000;
const RETRY_MS = 1_000;

const seed = Number(process.env['MORTISE_SEED'] ?? 1);
console.log(`broken-streams: MORTISE_SEED=${seed}`);

/** How long the DELETE at the end may take. Delays before a stream is opened again are random, so none is exactly as long. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Does not wait before a stream is opened again, and keeps to the time otherwise. */
const hastyClock: Clock = {
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs(),
  schedule: (fn, delayMs, options) =>
    systemClock.schedule(fn, delayMs <= 1.1 * RETRY_MS && delayMs !== CLOSE_TIMEOUT_MS ? 0 : delayMs, options),
};

function createCounter(): { readonly server: McpServer; readonly runs: Map<number, number> } {
  const runs = new Map<number, number>();
  const server = new McpServer({ name: 'counter', version: '1.0.0' });
  server.registerTool('count', { inputSchema: { call: z.number() } }, async ({ call }, ctx) => {
    runs.set(call, (runs.get(call) ?? 0) + 1);
    for (let step = 1; step <= STEPS; step++) {
      await ctx.progress({ progress: step, message: 'x'.repeat(20) });
      await turn();
    }
    return `counted for ${call}`;
  });
  return { server, runs };
}

interface Outcome {
  readonly steps: readonly number[];
  readonly text: string | undefined;
  readonly error: unknown;
}

async function call(client: McpClient, index: number, signal: AbortSignal): Promise<Outcome> {
  const steps: number[] = [];
  try {
    const onProgress = ({ progress }: { progress: number }): void => void steps.push(progress);
    const { content } = await client.callTool('count', { call: index }, { onProgress, signal });
    return { steps, text: JSON.stringify(content), error: undefined };
  } catch (error) {
    return { steps, text: undefined, error };
  }
}

/** Calls until so many connections were cut. @returns what came of each call, by its number. */
async function callUntilCut(client: McpClient, proxy: CuttingProxy, signal: AbortSignal): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (proxy.cutCount < CUTS) {
      const index = next++;
      outcomes[index] = await call(client, index, signal);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return outcomes;
}

/** How much this process holds open. */
function countHeld(): number {
  const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
  return descriptors + process.getActiveResourcesInfo().filter((name) => name !== 'Immediate' && name !== 'Timeout').length;
}

interface Rig {
  readonly client: McpClient;
  readonly proxy: CuttingProxy;
  readonly serving: Serving;
  readonly signal: AbortSignal;
  readonly timers: TimerCount;
  readonly runs: ReadonlyMap<number, number>;
}

/** Counts the timers of a client that have neither fired nor been cancelled. */
class TimerCount {
  open = 0;
  readonly clock: Clock = {
    now: hastyClock.now,
    monotonicMs: hastyClock.monotonicMs,
    schedule: (fn, delayMs, options) => {
      let isOpen = true;
      this.open++;
      const close = (): void => {
        if (isOpen) this.open--;
        isOpen = false;
      };
      const timer = hastyClock.schedule(
        () => {
          close();
          fn();
        },
        delayMs,
        options,
      );
      return {
        cancel: () => {
          close();
          timer.cancel();
        },
      };
    },
  };
}

/** Sets everything up, uses it, takes it down, and shows that nothing of it is left. */
async function withRig(
  era: 'legacy' | 'modern',
  options: (typeof SENDERS)[number]['options'],
  use: (rig: Rig) => Promise<void>,
): Promise<void> {
  const before = countHeld();
  const { server, runs } = createCounter();
  const serving = await serve('node', server, era === 'legacy' ? { eventStore: new MemoryEventStore() } : {});
  const proxy = await CuttingProxy.listen(serving.port, { random: seededRandom(seed), cuts: CUTS, withinBytes: STREAM_BYTES });
  const timers = new TimerCount();
  const transport = httpTransport(proxy.url, { clock: timers.clock, ...options });
  const client = await McpClient.connect(transport, { name: 'test', version: '1' }, { era, eraMemory: new Map() });
  const { signal } = new AbortController();
  await use({ client, proxy, serving, signal, timers, runs });
  await client.close();
  await until(() => serving.handler.counts.sessions + serving.handler.counts.streams + serving.handler.counts.calls === 0);
  expect([getEventListeners(signal, 'abort').length, timers.open]).toEqual([0, 0]);
  await proxy.close();
  await serving.close();
  await server.close();
  // Sockets close a turn or more later. What never goes makes the test run out of time.
  await until(() => countHeld() <= before);
}

const allSteps = Array.from({ length: STEPS }, (_, at) => at + 1);

describe.each(SENDERS)('streams that break a hundred times, over $name', ({ options }) => {
  it('[ROBUSTNESS-5] loses and doubles no message in the legacy era with an event store, and leaves nothing behind', async () => {
    await withRig('legacy', options, async ({ client, proxy, signal, runs }) => {
      const outcomes = await callUntilCut(client, proxy, signal);
      const lost = outcomes.filter(({ error }) => error !== undefined);
      const whole = outcomes.filter(({ error }) => error === undefined);
      for (const { steps } of whole) expect(steps).toEqual(allSteps);
      expect(
        outcomes.map(({ text, error }, index) => error !== undefined || text?.includes(`counted for ${index}"`) === true),
      ).not.toContain(false);
      // Only a call that was cut before its first event has nothing to go on from: its loss is reported, never silent.
      for (const { error } of lost) expect(error).toMatchObject({ code: 'ERR_CONNECTION_LOST' });
      expect(lost.length).toBeLessThanOrEqual(proxy.earlyCount);
      expect(proxy.cutCount).toBe(CUTS);
      expect(whole.length).toBeGreaterThan(outcomes.length / 2);
      expect([...runs.values()].every((count) => count === 1)).toBe(true);
    });
  });

  it('[ROBUSTNESS-5] reports a call as lost in the modern era, which may then be made again, and leaves nothing behind', async () => {
    await withRig('modern', options, async ({ client, proxy, signal, runs }) => {
      const outcomes = await callUntilCut(client, proxy, signal);
      const lost = outcomes.filter(({ error }) => error !== undefined);
      for (const { error } of lost) expect(error).toMatchObject({ code: 'ERR_CONNECTION_LOST' });
      // A cut may fall between an answer and the end of its stream: then nothing is lost.
      expect(lost.length).toBeLessThanOrEqual(CUTS);
      expect(lost.length).toBeGreaterThan(CUTS / 2);
      expect(
        outcomes.map(({ text, error }, index) => error !== undefined || text?.includes(`counted for ${index}"`) === true),
      ).not.toContain(false);
      // What came before the cut came in order, and once.
      for (const { steps } of outcomes) expect(steps).toEqual(allSteps.slice(0, steps.length));
      for (const { steps, error } of outcomes) if (error === undefined) expect(steps).toEqual(allSteps);
      const again = await Promise.all(outcomes.map(({ error }, index) => (error === undefined ? undefined : call(client, index, signal))));
      for (const [index, outcome] of again.entries()) if (outcome) expect(outcome.text).toContain(`counted for ${index}"`);
      expect([...runs.values()].every((count) => count <= 2)).toBe(true);
    });
  });
});
