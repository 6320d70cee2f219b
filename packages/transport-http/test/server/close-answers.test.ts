/** Whom a handler that closes leaves without a result is answered all the same. */

import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { HttpHandlerOptions } from '@mortise/transport-http/server';
import { LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore, TestSessionStore } from '../support/memory-stores.ts';
import { progress, ScriptedEndpoint, until } from '../support/scripted-endpoint.ts';

const CLOSED = { code: -32603, message: 'The server has closed' };
const ENDED = { code: -32600, message: expect.stringContaining('The session has ended') };

const open: Serving[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((serving) => serving.close()));
});

/** Serves tools that never answer, whatever their signal says: one that is silent, one that tells of its progress first. */
async function serveStuck(face: (typeof FACES)[number], options: HttpHandlerOptions = {}): Promise<Serving> {
  const endpoint = new ScriptedEndpoint();
  endpoint.tools.set('stuck', () => new Promise(() => undefined));
  endpoint.tools.set('begun', async ({ call }) => {
    await call.send(progress('t', 1));
    return new Promise(() => undefined);
  });
  const serving = await serve(face, endpoint, options);
  open.push(serving);
  return serving;
}

async function closeOver(serving: Serving, calls: number): Promise<void> {
  await until(() => serving.handler.counts.calls === calls);
  await serving.handler.close({ drainMs: 0 });
}

describe.each(FACES)('closing past the deadline over the %s face', (face) => {
  it('[ROBUSTNESS-4] tells a modern client that has heard nothing to come back', async () => {
    const serving = await serveStuck(face);
    const call = modernTool(serving.port, 'stuck');
    await closeOver(serving, 1);
    const answer = await call;
    expect([answer.status, answer.headers['retry-after'], await answer.json()]).toMatchObject([
      503,
      '5',
      { id: expect.any(Number), error: { code: -32603, message: expect.stringContaining('closing') } },
    ]);
  });

  it.each<[string, HttpHandlerOptions]>([
    ['in a session', {}],
    ['in a session that is stored', { sessionStore: new TestSessionStore() }],
    ['in a session whose streams can be resumed', { eventStore: new TestEventStore() }],
  ])('[ROBUSTNESS-4] answers a legacy request %s with an error', async (_, options) => {
    const serving = await serveStuck(face, options);
    const client = await LegacyClient.open(serving.port);
    const calls = [client.tool('stuck'), client.tool('begun')];
    await closeOver(serving, 2);
    for (const call of calls) {
      const answer = await call;
      expect([answer.status, await answer.response()]).toMatchObject([200, { id: expect.any(Number), error: CLOSED }]);
    }
  });

  it('[ROBUSTNESS-4] answers a legacy request without sessions with an error', async () => {
    const serving = await serveStuck(face, { sessions: false });
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stuck' } };
    const call = post(serving.port, request, { 'mcp-protocol-version': LEGACY });
    await closeOver(serving, 1);
    expect(await (await call).json()).toMatchObject({ id: 1, error: CLOSED });
  });

  it('[ROBUSTNESS-4] answers every request of a batch', async () => {
    const serving = await serveStuck(face);
    const client = await LegacyClient.open(serving.port, '2025-03-26');
    const requests = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'stuck' } }));
    const call = post(serving.port, requests, { 'mcp-session-id': client.sessionId });
    await closeOver(serving, 2);
    const responses = (await (await call).json()) as unknown as JsonObject[];
    expect(responses).toMatchObject([
      { id: 1, error: CLOSED },
      { id: 2, error: CLOSED },
    ]);
  });

  it('leaves nothing that keeps the program from closing a server of its own', async () => {
    const serving = await serveStuck(face);
    const client = await LegacyClient.open(serving.port);
    const calls = [modernTool(serving.port, 'stuck'), client.tool('stuck')];
    await closeOver(serving, 2);
    await Promise.all(calls);
    await new Promise((resolve) => serving.server.close(resolve));
    expect(serving.server.listening).toBe(false);
  });

  it('[ROBUSTNESS-4] answers a request whose session another machine has ended', async () => {
    const sessionStore = new TestSessionStore();
    const [here, there] = [await serveStuck(face, { sessionStore }), await serveStuck(face, { sessionStore })];
    const client = await LegacyClient.open(here.port);
    const call = client.tool('stuck');
    await until(() => here.handler.counts.calls === 1);
    expect((await send(there.port, { method: 'DELETE', headers: client.headers })).status).toBe(204);
    expect((await client.tool('echo')).status).toBe(404);
    expect(await (await call).response()).toMatchObject({ error: ENDED });
  });
});
