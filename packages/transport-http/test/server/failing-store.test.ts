/** A store of the program that fails in mid-session: who asked is answered, and nothing reaches an uncaught path. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRecord } from '@mortise/protocol/contracts';
import { FACES, LEGACY, LegacyClient, serve, type Serving } from '../support/http-client.ts';
import { TestEventStore, TestSessionStore } from '../support/memory-stores.ts';
import { ScriptedEndpoint, until } from '../support/scripted-endpoint.ts';

class FailingStore extends TestSessionStore {
  isFailing = false;

  override put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean> {
    return this.isFailing ? Promise.reject(new Error('secret disk failure')) : super.put(record, expectedVersion);
  }
}

const SET_LEVEL = { jsonrpc: '2.0', id: 7, method: 'logging/setLevel', params: { level: 'debug' } };
const INTERNAL = { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'Internal error' } };

let serving: Serving;
let sessionStore: FailingStore;
let logged: string[];
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  sessionStore = new FailingStore();
  logged = [];
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  process.off('unhandledRejection', note);
  sessionStore.isFailing = false;
  await serving.close();
});

describe.each(FACES)('a session store that fails, over the %s face', (face) => {
  const logger = { log: (_level: string, line: string): void => void logged.push(line) };

  it.each([
    ['2025-06-18', false],
    [LEGACY, true],
  ])(
    '[ROBUSTNESS-4][ROBUSTNESS-14] costs a request of %s an error of its own, which tells nothing (event store: %s)',
    async (version, hasLog) => {
      const stores = { sessionStore, ...(hasLog ? { eventStore: new TestEventStore() } : {}) };
      serving = await serve(face, new ScriptedEndpoint(), { ...stores, logger });
      const client = await LegacyClient.open(serving.port, version);
      sessionStore.isFailing = true;
      const answer = await client.post(SET_LEVEL);
      expect([answer.status, hasLog ? await answer.nextMessage() : await answer.json()]).toEqual([200, INTERNAL]);
      expect(logged).toEqual(['A request failed']);
    },
  );

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
    // Whoever leaves a rejection alone is told of after the turn.
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
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
