import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LEGACY, LegacyClient } from '../support/legacy-client.ts';
import type { Answer } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

async function untilStreams(count: number): Promise<void> {
  await until(() => serving.handler.counts.streams === count);
}

function values(raw: string): readonly number[] {
  return [...raw.matchAll(/"progress":(\d+)/g)].map(([, value]) => Number(value));
}

/** A tool that sends so many steps, each when told. */
function stepper(endpoint: ScriptedEndpoint): { step(): Promise<void> } {
  let wake = gate();
  let done = gate();
  endpoint.tools.set('steps', async ({ call, args }) => {
    for (let value = 1; value <= Number(args['count']); value++) {
      await wake.promise;
      wake = gate();
      await call.send(progress('t', value));
      done.open();
    }
    return text('finished');
  });
  return {
    step: async () => {
      done = gate();
      wake.open();
      await done.promise;
    },
  };
}

async function lastId(answer: Answer, count: number): Promise<string> {
  let id = '';
  for (let at = 0; at < count; at++) id = (await answer.event())?.id ?? id;
  return id;
}

/** Waits in `replay`, after it has found the events, until the test opens `go`. */
class SlowStore extends TestEventStore {
  readonly asked = gate();
  readonly go = gate();
  /** How many events it has given. */
  given = 0;

  override async replay(...args: Parameters<TestEventStore['replay']>): ReturnType<TestEventStore['replay']> {
    const found = await super.replay(...args);
    this.given += found?.events.length ?? 0;
    this.asked.open();
    await this.go.promise;
    return found;
  }
}

describe.each(FACES)('resumable streams over the %s face', (face) => {
  it('[HTTP-029][HTTP-032] opens the stream of a POST with a priming event and a retry, in the revision that has them', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const [first, ...rest] = await (await client.tool('echo')).events();
    expect(first).toMatchObject({ data: '', retryMs: 1_000, id: expect.stringMatching(/^p/) });
    expect(rest).toMatchObject([{ data: expect.stringContaining('"result"') }]);
    for (const version of ['2025-06-18', '2025-03-26']) {
      const older = await LegacyClient.open(serving.port, version);
      expect((await older.tool('echo')).isStream).toBe(false);
    }
  });

  it('[HTTP-029] goes by what initialize agreed on, and not by another version in the header', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { eventStore: new TestEventStore() });
    const [older, newer] = await Promise.all(['2025-06-18', LEGACY].map((version) => LegacyClient.open(serving.port, version)));
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } };
    expect((await older?.post(call, { 'mcp-protocol-version': LEGACY }))?.isStream).toBe(false);
    expect((await newer?.post(call, { 'mcp-protocol-version': '2025-06-18' }))?.isStream).toBe(true);
  });

  it('[HTTP-034][HTTP-035] gives every event an id that no other has and that names its stream', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('three', async ({ call }) => {
      for (const value of [1, 2, 3]) await call.send(progress('t', value));
      return text('x');
    });
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const answers = await Promise.all([client.tool('three'), client.tool('three'), client.tool('three')]);
    const ids = await Promise.all(answers.map(async (answer) => (await answer.events()).map(({ id }) => id)));
    expect(new Set(ids.flat()).size).toBe(15);
    expect(ids.map((ofStream) => new Set(ofStream.map((id) => id?.split('_')[0])).size)).toEqual([1, 1, 1]);
  });

  it('[HTTP-036][HTTP-037][HTTP-023] goes on with a broken POST stream by GET, from the last event that the client saw', async () => {
    const endpoint = new ScriptedEndpoint();
    const steps = stepper(endpoint);
    endpoint.tools.set('noise', async ({ call }) => {
      await call.send(progress('noise', 99));
      return text('noise');
    });
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('steps', { count: 4 });
    await steps.step();
    const id = await lastId(answer, 2);
    answer.leave();
    await untilStreams(0);
    await steps.step();
    await (await client.tool('noise')).text();
    await steps.step();
    const resumed = await client.get({ 'last-event-id': id });
    await steps.step();
    const body = await resumed.text();
    expect(values(body)).toEqual([2, 3, 4]);
    expect(body).toContain('finished');
    expect(body).not.toContain('noise');
  });

  it('[HTTP-036] goes on from an event whose id is not ASCII', async () => {
    class ForeignStore extends TestEventStore {
      override async append(...given: Parameters<TestEventStore['append']>): Promise<string> {
        const id = await super.append(...given);
        const at = this.events.length - 1;
        this.events[at] = { ...(this.events[at] as TestEventStore['events'][number]), id: `${id}-中` };
        return `${id}-中`;
      }
    }
    const endpoint = new ScriptedEndpoint();
    const steps = stepper(endpoint);
    serving = await serve(face, endpoint, { eventStore: new ForeignStore() });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('steps', { count: 1 });
    const id = await lastId(answer, 1);
    expect(id).toMatch(/-中$/);
    answer.leave();
    await untilStreams(0);
    await steps.step();
    const resumed = await client.get({ 'last-event-id': Buffer.from(id).toString('latin1') });
    expect([resumed.status, await resumed.text()]).toEqual([200, expect.stringContaining('finished')]);
  });

  it('[HTTP-037] replays a stream whose answer came while nobody listened, and ends it', async () => {
    const endpoint = new ScriptedEndpoint();
    const steps = stepper(endpoint);
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('steps', { count: 1 });
    const id = await lastId(answer, 1);
    answer.leave();
    await untilStreams(0);
    await steps.step();
    await until(() => serving.handler.counts.calls <= 0);
    const body = await (await client.get({ 'last-event-id': id })).text();
    expect(values(body)).toEqual([1]);
    expect(body).toContain('finished');
  });

  it('[HTTP-031][HTTP-032] closes a stream early on request, and gives the rest to a client that comes back', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('poll', async ({ call }) => {
      call.closeStream?.(300);
      await go.promise;
      await call.send(progress('t', 1));
      return text('finished');
    });
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('poll');
    const events = await answer.events();
    expect(events).toMatchObject([{ data: '' }, { retryMs: 300 }]);
    const resumed = await client.get({ 'last-event-id': events[0]?.id ?? '' });
    go.open();
    const body = await resumed.text();
    expect(values(body)).toEqual([1]);
    expect(body).toContain('finished');
  });

  it('[HTTP-015] offers no early close where the revision or the server has none', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('can', ({ call }) => text(String(call.closeStream !== undefined)));
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const outcomes = await Promise.all(
      [LEGACY, '2025-06-18', '2025-03-26'].map(async (version) =>
        JSON.stringify(await (await (await LegacyClient.open(serving.port, version)).tool('can')).response()),
      ),
    );
    expect(outcomes.map((outcome) => outcome.includes('true'))).toEqual([true, false, false]);
    await serving.close();
    serving = await serve(face, endpoint);
    expect(await (await (await LegacyClient.open(serving.port)).tool('can')).text()).toContain('false');
  });

  it('[HTTP-036] goes on with a GET stream, with what was sent meanwhile', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const stream = await client.get();
    const id = await lastId(stream, 1);
    stream.leave();
    await untilStreams(0);
    const link = endpoint.sessions.at(-1)?.link;
    await link?.send({ jsonrpc: '2.0', method: 'notifications/one' });
    const resumed = await client.get({ 'last-event-id': id });
    expect(await resumed.nextMessage()).toMatchObject({ method: 'notifications/one' });
    await link?.send({ jsonrpc: '2.0', method: 'notifications/two' });
    expect(await resumed.nextMessage()).toMatchObject({ method: 'notifications/two' });
  });

  it('[HTTP-036] asks the store once for what a client has missed, and loses nothing that is logged meanwhile', async () => {
    const eventStore = new SlowStore();
    const endpoint = new ScriptedEndpoint();
    const steps = stepper(endpoint);
    serving = await serve(face, endpoint, { eventStore });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('steps', { count: 4 });
    const id = await lastId(answer, 1);
    answer.leave();
    await untilStreams(0);
    await steps.step();
    await steps.step();
    const resuming = client.get({ 'last-event-id': id });
    await eventStore.asked.promise;
    expect(eventStore.given).toBe(2);
    await steps.step();
    eventStore.go.open();
    const resumed = await resuming;
    expect(eventStore.given).toBe(3);
    await steps.step();
    const body = await resumed.text();
    expect(values(body)).toEqual([1, 2, 3, 4]);
    expect(body).toContain('finished');
  });

  it('[ROBUSTNESS-8] opens no stream on a session that its client ends during the replay', async () => {
    const eventStore = new SlowStore();
    const endpoint = new ScriptedEndpoint();
    const steps = stepper(endpoint);
    serving = await serve(face, endpoint, { eventStore });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('steps', { count: 1 });
    const id = await lastId(answer, 1);
    answer.leave();
    await untilStreams(0);
    const resuming = client.get({ 'last-event-id': id });
    await eventStore.asked.promise;
    await client.delete();
    eventStore.go.open();
    expect((await resuming).status).toBe(404);
    await steps.step();
  });

  it('[ROBUSTNESS-8] ends a stream that the store gives back what is no JSON for, and counts it out once', async () => {
    const eventStore = new TestEventStore();
    const lines: string[] = [];
    const logger = { log: (_level: string, line: string): void => void lines.push(line) };
    serving = await serve(face, new ScriptedEndpoint(), { eventStore, logger, maxSessions: 2 });
    const [client, other] = await Promise.all([LegacyClient.open(serving.port), LegacyClient.open(serving.port)]);
    const stays = await other.get();
    const broken = await client.get();
    const id = await lastId(broken, 1);
    broken.leave();
    await untilStreams(1);
    const primed = eventStore.events.find((event) => event.id === id) as TestEventStore['events'][number];
    eventStore.events.push({ ...primed, id: 'bad', message: { big: 1n } as never });
    const resumed = await client.get({ 'last-event-id': id });
    expect([resumed.status, await resumed.events()]).toMatchObject([200, [{ retryMs: 1000 }]]);
    await until(() => lines.length > 0);
    const statuses = [(await client.get()).status, (await client.get()).status];
    expect([lines, statuses, stays.hasEnded]).toEqual([['A request failed'], [200, 503], false]);
  });

  it('answers an event that is not known with 400', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    expect((await client.get({ 'last-event-id': 'gone' })).status).toBe(400);
    expect(serving.handler.counts.streams).toBe(0);
  });

  it('[HTTP-037] gives nobody the events of another session', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { eventStore: new TestEventStore() });
    const [mine, other] = await Promise.all([LegacyClient.open(serving.port), LegacyClient.open(serving.port)]);
    const id = await lastId(await mine.tool('echo'), 1);
    expect((await other.get({ 'last-event-id': id })).status).toBe(400);
  });

  it('[ROBUSTNESS-4] sends messages without an id once the event store has failed for 10 seconds, and does not wait for each', async () => {
    const eventStore = new TestEventStore();
    const endpoint = new ScriptedEndpoint();
    const clock = new FakeClock();
    eventStore.failsOn = (message) => JSON.stringify(message).includes('"progress":2');
    endpoint.tools.set('tick', async ({ call }) => {
      await call.send(progress('t', 1));
      await call.send(progress('t', 2));
      await call.send(progress('t', 2));
      return text('x');
    });
    serving = await serve(face, endpoint, { eventStore, clock });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('tick');
    const beganAtMs = clock.now();
    while (clock.now() < beganAtMs + 10_000) {
      await until(() => clock.delaysMs.includes(500));
      clock.advance(500);
    }
    const events = await answer.events();
    expect(events.map(({ id }) => id === undefined)).toEqual([false, false, true, true, true]);
  });

  it('forgets the log of a session that ends', async () => {
    const eventStore = new TestEventStore();
    serving = await serve(face, new ScriptedEndpoint(), { eventStore });
    const client = await LegacyClient.open(serving.port);
    await client.delete();
    expect(eventStore.deleted).toEqual([client.sessionId]);
  });
});

describe('a connection that breaks in the middle of a stream', () => {
  it('[ROBUSTNESS-16][HTTP-036] loses and doubles nothing in a hundred breaks at random places', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('burst', async ({ call }) => {
      for (let value = 1; value <= 20; value++) {
        await call.send(progress('t', value));
        await new Promise(setImmediate);
      }
      return text('finished');
    });
    serving = await serve('node', endpoint, { eventStore: new MemoryEventStore() });
    const client = await LegacyClient.open(serving.port);
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    for (let round = 0; round < 100; round++) {
      const seen: number[] = [];
      let answer = await client.tool('burst');
      let id = '';
      let isFinished = false;
      for (let connection = 0; !isFinished; connection++) {
        const stopAfter = connection < 3 ? random(12) + 1 : Number.POSITIVE_INFINITY;
        for (let count = 0; count < stopAfter; count++) {
          const event = await answer.event();
          if (event === undefined) break;
          id = event.id ?? id;
          const message = event.data === '' ? {} : (JSON.parse(event.data) as JsonObject);
          const params = message['params'] as JsonObject | undefined;
          if (params !== undefined) seen.push(Number(params['progress']));
          isFinished ||= message['result'] !== undefined;
        }
        if (isFinished) break;
        answer.leave();
        answer = await client.get({ 'last-event-id': id });
      }
      answer.leave();
      expect(seen).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    }
    await untilStreams(0);
    expect(serving.handler.counts).toEqual({ sessions: 1, streams: 0, calls: 0 });
  });
});
