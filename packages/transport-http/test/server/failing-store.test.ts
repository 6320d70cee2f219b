/** A store of the program that fails in mid-session: who asked is answered, and nothing reaches an uncaught path. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { HttpHandlerOptions } from '@mortise/transport-http/server';
import type { MessageBus, SessionPut, SessionRecord } from '@mortise/protocol/contracts';
import { forbidUnhandled } from '../support/forbid-unhandled.ts';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { type Answer, post } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore, TestSessionStore } from '../support/memory-stores.ts';
import { type Gate, gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

class FailingStore extends TestSessionStore {
  isFailing = false;
  /** Writes, and fails all the same: a time-out after the fact. */
  isLosingAnswers = false;

  override async put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<SessionPut> {
    if (this.isFailing) throw new Error('secret disk failure');
    const isStored = await super.put(record, expectedVersion);
    if (this.isLosingAnswers) throw new Error('timed out');
    return isStored;
  }

  override async delete(id: string): Promise<void> {
    if (this.isFailing) throw new Error('secret disk failure');
    await super.delete(id);
  }
}

/** Gives what it has found only when the test lets it. */
class SlowStore extends TestSessionStore {
  go: Gate | undefined;
  waiting = 0;

  override async get(id: string): Promise<SessionRecord | undefined> {
    const record = await super.get(id);
    this.waiting++;
    await this.go?.promise;
    this.waiting--;
    return record;
  }
}

const SET_LEVEL = { jsonrpc: '2.0', id: 7, method: 'logging/setLevel', params: { level: 'debug' } };
const DONE = { jsonrpc: '2.0', id: 7, result: {} };
const NOT_CREATED = 'A session could not be stored: its client gets status 500 and may try again';
const NOT_TOLD = 'The message bus failed: other machines do not know yet what changed in a session';
const NOT_STORED = 'The changes of a session could not be stored: they are stored with the next message';

/** Stores a session as another machine would. */
async function storeElsewhere({ sessionId }: LegacyClient, change: JsonObject = {}): Promise<void> {
  const record = await sessionStore.get(sessionId);
  if (record === undefined) throw new Error('The session is not stored');
  await sessionStore.put({ ...record, state: { ...record.state, writer: 'another machine', ...change } }, record.version);
}

let serving: Serving;
let sessionStore: FailingStore;
let logged: string[];
forbidUnhandled();
beforeEach(() => {
  sessionStore = new FailingStore();
  logged = [];
});
afterEach(async () => {
  sessionStore.isFailing = false;
  await serving.close();
});

describe.each(FACES)('a session store that fails, over the %s face', (face) => {
  const logger = { log: (level: string, line: string): void => void (level !== 'info' && logged.push(line)) };

  /** A client of a server with a tool that counts its runs, while another one runs until `go`. */
  async function openBusy() {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    let charged = 0;
    endpoint.tools.set('charge', () => text(`charged ${++charged}`));
    endpoint.tools.set('slow', async () => {
      await go.promise;
      return text('slow');
    });
    serving = await serve(face, endpoint, { sessionStore, logger });
    const client = await LegacyClient.open(serving.port);
    const slow = client.tool('slow');
    const { handler } = serving;
    await until(() => handler.counts.calls === 1);
    return { endpoint, client, slow, go, charges: () => charged };
  }

  it.each([
    ['2025-06-18', false],
    [LEGACY, true],
  ])(
    '[ROBUSTNESS-4] costs a request of %s nothing: its answer is given, and the failure logged (event store: %s)',
    async (version, hasLog) => {
      const stores = { sessionStore, ...(hasLog ? { eventStore: new TestEventStore() } : {}) };
      serving = await serve(face, new ScriptedEndpoint(), { ...stores, logger });
      const client = await LegacyClient.open(serving.port, version);
      sessionStore.isFailing = true;
      const answer = await client.post(SET_LEVEL);
      expect([answer.status, await answer.response()]).toEqual([200, DONE]);
      expect(logged).toEqual([NOT_STORED]);
      // What could not be stored is tried again, and costs later calls nothing either.
      expect(await (await client.tool('echo', { a: 1 })).response()).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } });
      expect(logged).toEqual([NOT_STORED, NOT_STORED]);
    },
  );

  it('[ROBUSTNESS-3] runs no handler twice where a write succeeded and seemed to fail', async () => {
    const { endpoint, client, slow, go, charges } = await openBusy();
    sessionStore.isLosingAnswers = true;
    expect(await (await client.post(SET_LEVEL)).response()).toEqual(DONE);
    sessionStore.isLosingAnswers = false;
    expect(await (await client.tool('charge')).response()).toMatchObject({ result: { content: [{ text: 'charged 1' }] } });
    expect(charges()).toBe(1);
    // What runs in the session goes on.
    go.open();
    expect(await (await slow).response()).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    expect(endpoint.sessions).toHaveLength(1);
    expect((await sessionStore.get(client.sessionId))?.state).toMatchObject({ session: { level: 'debug' } });
  });

  it('[ROBUSTNESS-3] runs no handler twice where another machine stored a change first', async () => {
    const { client, slow, go, charges } = await openBusy();
    sessionStore.isFailing = true;
    await (await client.post(SET_LEVEL)).text();
    sessionStore.isFailing = false;
    await storeElsewhere(client);
    expect(await (await client.tool('charge')).response()).toMatchObject({ result: { content: [{ text: 'charged 1' }] } });
    expect(charges()).toBe(1);
    expect(logged).toEqual([NOT_STORED, 'The changes of a session may be lost: another machine changed the session first']);
    go.open();
    await (await slow).text();
  });

  it.each([
    ['in a layout that is not known here', { layout: 99 }],
    ['in a revision that is not known here', { protocolVersion: '2099-01-01' }],
    ['with what the endpoint refuses', { session: { layout: 99 } }],
  ])('tells a client to begin anew whose session another machine stored %s', async (_what, change) => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { sessionStore, logger });
    const client = await LegacyClient.open(serving.port);
    await storeElsewhere(client, change);
    expect((await client.tool('echo')).status).toBe(404);
    expect([logged, serving.handler.counts.sessions, endpoint.sessions.map(({ isClosed }) => isClosed)]).toEqual([
      ['A stored session could not be opened: its client must send "initialize" again'],
      0,
      [true],
    ]);
  });

  it('[ROBUSTNESS-4] keeps the session of calls in flight that cannot take over what another machine stored', async () => {
    const { endpoint, client, slow, go } = await openBusy();
    await storeElsewhere(client, { session: { layout: 99 } });
    expect(await (await client.post(SET_LEVEL)).response()).toEqual(DONE);
    expect(logged).toEqual([NOT_STORED]);
    go.open();
    expect(await (await slow).response()).toMatchObject({ result: { content: [{ text: 'slow' }] } });
    expect(endpoint.sessions.map(({ isClosed }) => isClosed)).toEqual([false]);
  });

  it('stores what requests at once have changed', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const client = await LegacyClient.open(serving.port);
    const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
    const answers = await Promise.all(levels.map((level, id) => client.post({ ...SET_LEVEL, id, params: { level } })));
    expect(await Promise.all(answers.map((answer) => answer.response()))).toEqual(levels.map((_, id) => ({ ...DONE, id })));
    expect(logged).toEqual([]);
    const record = await sessionStore.get(client.sessionId);
    expect(levels).toContain((record?.state['session'] as JsonObject)['level']);
  });

  it('[ROBUSTNESS-8][ROBUSTNESS-14] counts no session that could not be stored, and takes new ones once it works again', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger, maxSessions: 3, maxSessionsPerKey: 3 });
    sessionStore.isFailing = true;
    for (let id = 0; id < 10; id++) {
      const refused = await post(serving.port, initializeRequest(LEGACY, id));
      const error = { code: -32603, message: 'Internal error' };
      expect([refused.status, await refused.json()]).toEqual([500, { jsonrpc: '2.0', id, error }]);
    }
    expect(logged).toEqual(Array(10).fill([NOT_CREATED, 'A request failed']).flat());
    expect(serving.handler.counts.sessions).toBe(0);
    sessionStore.isFailing = false;
    const clients: LegacyClient[] = [];
    for (let count = 0; count < 5; count++) clients.push(await LegacyClient.open(serving.port));
    expect(serving.handler.counts.sessions).toBe(3);
  });

  it('[HTTP-046] ends a session at once, though the store takes its time to delete it', async () => {
    const [go, deleting] = [gate(), gate()];
    const slowStore = new (class extends TestSessionStore {
      override async delete(id: string): Promise<void> {
        deleting.open();
        await go.promise;
        await super.delete(id);
      }
    })();
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore: slowStore, logger });
    const client = await LegacyClient.open(serving.port);
    const ended = client.delete();
    await deleting.promise;
    expect([(await client.tool('echo')).status, (await client.get()).status]).toEqual([404, 404]);
    go.open();
    expect((await ended).status).toBe(204);
    expect([slowStore.records.size, serving.handler.counts.sessions, serving.handler.counts.streams]).toEqual([0, 0, 0]);
  });

  it('[HTTP-046] tells a client that its session could not be ended, which may try again', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const client = await LegacyClient.open(serving.port);
    sessionStore.isFailing = true;
    expect((await client.delete()).status).toBe(500);
    expect(logged).toEqual(['A request failed']);
    sessionStore.isFailing = false;
    expect((await client.delete()).status).toBe(204);
    expect((await client.tool('echo')).status).toBe(404);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['nothing', undefined],
    ['text', 'text'],
    ['of an unknown layout', { layout: 99, protocolVersion: LEGACY }],
  ])('tells a client to begin anew whose stored state is %s', async (_, state) => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const { sessionId } = await LegacyClient.open(serving.port);
    await serving.close();
    const record = sessionStore.records.get(sessionId);
    sessionStore.records.set(sessionId, { ...record, state } as SessionRecord);
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (let times = 0; times < 2; times++) expect((await post(serving.port, ping, { 'mcp-session-id': sessionId })).status).toBe(404);
    expect(logged).toEqual([]);
  });

  it('leaves no record of a session that the message bus does not take', async () => {
    const messageBus: MessageBus = {
      subscribe: () => {
        throw new Error('no bus');
      },
      publish: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger, messageBus });
    for (let times = 0; times < 3; times++) expect((await post(serving.port, initializeRequest())).status).toBe(500);
    expect([sessionStore.records.size, serving.handler.counts.sessions]).toEqual([0, 0]);
  });

  it('[ROBUSTNESS-20] tells the sender where the message bus does not take what may be for another machine', async () => {
    const messageBus: MessageBus = {
      subscribe: async () => () => undefined,
      publish: () => Promise.reject(new Error('no bus')),
      close: () => Promise.resolve(),
    };
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { sessionStore, logger, messageBus });
    const client = await LegacyClient.open(serving.port);
    const response = { jsonrpc: '2.0', id: 77, result: {} };
    expect((await client.post(response)).status).toBe(500);
    expect([endpoint.received.at(-1), logged]).toEqual([response, [NOT_TOLD, 'A request failed']]);
  });

  it('[ROBUSTNESS-4][ROBUSTNESS-5] leaves no request of a batch without its answer, and nothing uncaught', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const client = await LegacyClient.open(serving.port, '2025-03-26');
    sessionStore.isFailing = true;
    const call = { jsonrpc: '2.0', id: 8, method: 'tools/call', params: { name: 'echo' } };
    const ready = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const answer = await client.post([ready, SET_LEVEL, call]);
    const responses = JSON.parse(await answer.text()) as readonly { readonly id: number; readonly error?: { readonly code: number } }[];
    expect(responses.map(({ id }) => id).sort()).toEqual([7, 8]);
    expect(responses.every(({ error }) => error === undefined || error.code === -32603)).toBe(true);
    await until(() => logged.length > 0);
  });

  it('loses no change once it works again', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessionStore, logger });
    const client = await LegacyClient.open(serving.port);
    sessionStore.isFailing = true;
    await (await client.post(SET_LEVEL)).text();
    sessionStore.isFailing = false;
    expect((await client.tool('echo')).status).toBe(200);
    expect((await sessionStore.get(client.sessionId))?.state).toMatchObject({ session: { level: 'debug' } });
  });
});

describe.each(FACES)('a session store that is slow, over the %s face', (face) => {
  /** Requests whose session is being looked up until `go`; that of later ones is found at once. */
  async function openWaiting(ask: (client: LegacyClient) => Promise<Answer>[], options: HttpHandlerOptions = {}) {
    const [slowStore, endpoint] = [new SlowStore(), new ScriptedEndpoint()];
    serving = await serve(face, endpoint, { ...options, sessionStore: slowStore });
    const client = await LegacyClient.open(serving.port);
    const go = gate();
    slowStore.go = go;
    const asked = ask(client);
    const answers = Promise.all(asked).then((all) => all.map(({ status }) => status));
    await until(() => slowStore.waiting === asked.length);
    slowStore.go = undefined;
    return { endpoint, client, answers, go };
  }

  it('[ROBUSTNESS-8] brings back no session that was ended while it was looked up', async () => {
    const { client, answers, go } = await openWaiting((asking) => [asking.tool('echo')]);
    expect((await client.delete()).status).toBe(204);
    go.open();
    expect(await answers).toEqual([404]);
    expect(serving.handler.counts.sessions).toBe(0);
  });

  it('keeps what was stored while it was looked up', async () => {
    const { endpoint, client, answers, go } = await openWaiting((asking) => [asking.tool('echo')]);
    expect(await (await client.post(SET_LEVEL)).response()).toEqual(DONE);
    go.open();
    expect(await answers).toEqual([200]);
    expect(endpoint.sessions.map(({ state }) => state['level'])).toEqual(['debug']);
  });

  it('[ROBUSTNESS-8] goes on with one that made room for another while it was looked up, and counts both', async () => {
    const { answers, go } = await openWaiting((asking) => [asking.tool('echo')], { maxSessions: 1 });
    const other = await LegacyClient.open(serving.port);
    go.open();
    expect(await answers).toEqual([200]);
    expect(serving.handler.counts.sessions).toBe(1);
    expect([(await other.tool('echo')).status, serving.handler.counts.sessions]).toEqual([200, 1]);
  });
});
