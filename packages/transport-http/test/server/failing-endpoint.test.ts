/** Parts of the program that break their promises: an endpoint that rejects, a verifier whose words no header can carry, a bus that fails. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonRpcMessage, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { AuthChallengeError, MemoryMessageBus } from '@mortise/protocol';
import type { Call, MessageBus } from '@mortise/protocol/contracts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { forbidUnhandled } from '../support/forbid-unhandled.ts';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { gate, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

const NOT_CLOSED = 'The endpoint failed to close a session';
const FAILED = 'A request failed';

/** Its sessions end by rejecting, and reject what `rejects` says. */
class FailingEndpoint extends ScriptedEndpoint {
  rejects: (message: JsonRpcMessage) => boolean = () => false;

  override openSession(...args: Parameters<ScriptedEndpoint['openSession']>): ReturnType<ScriptedEndpoint['openSession']> {
    const session = super.openSession(...args);
    const receive = session.receive.bind(session);
    session.receive = async (message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> => {
      if (this.rejects(message)) throw new Error('secret failure');
      return receive(message, call);
    };
    session.close = () => Promise.reject(new Error('secret failure'));
    return session;
  }
}

class FailingBus extends MemoryMessageBus {
  isFailing = false;

  override async subscribe(...args: Parameters<MemoryMessageBus['subscribe']>): Promise<() => void> {
    if (this.isFailing) throw new Error('no bus');
    return super.subscribe(...args);
  }
}

let serving: Serving;
let logged: string[];
const logger = { log: (level: string, line: string): void => void (level !== 'info' && logged.push(line)) };
forbidUnhandled();
beforeEach(() => {
  logged = [];
});
afterEach(() => serving.close());

describe.each(FACES)('an endpoint that rejects, over the %s face', (face) => {
  const openSse = (): ReturnType<typeof send> =>
    send(serving.port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });

  it('[ROBUSTNESS-4] costs a session that ends nothing: its client is answered, its streams end', async () => {
    serving = await serve(face, new FailingEndpoint(), { logger });
    const client = await LegacyClient.open(serving.port);
    const get = await client.get();
    expect((await client.delete()).status).toBe(204);
    expect(await get.events()).toEqual([]);
    expect([logged, serving.handler.counts]).toEqual([[NOT_CLOSED], { sessions: 0, streams: 0, calls: 0 }]);
  });

  it('[ROBUSTNESS-4] costs a request without a session nothing', async () => {
    serving = await serve(face, new FailingEndpoint(), { logger, sessions: false });
    const version = { 'mcp-protocol-version': LEGACY };
    for (const id of [1, 2]) {
      const answer = await post(serving.port, { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo' } }, version);
      expect(await answer.response()).toMatchObject({ id, result: {} });
    }
    // The session that shows what a handshake leaves, and those of the two requests.
    await until(() => logged.length === 3);
    expect(new Set(logged)).toEqual(new Set([NOT_CLOSED]));
  });

  it('[ROBUSTNESS-4] costs others nothing when the handler closes', async () => {
    serving = await serve(face, new FailingEndpoint(), { logger, sse: true });
    await LegacyClient.open(serving.port);
    await (await openSse()).event();
    await serving.handler.close();
    expect([logged, serving.handler.counts]).toEqual([[NOT_CLOSED, NOT_CLOSED], { sessions: 0, streams: 0, calls: 0 }]);
  });

  it('[ROBUSTNESS-5] is logged where another machine has passed a message on', async () => {
    const endpoint = new FailingEndpoint();
    endpoint.rejects = (message) => 'method' in message && message.method === 'notifications/cancelled';
    const messageBus = new FailingBus();
    serving = await serve(face, endpoint, { logger, messageBus });
    const { sessionId } = await LegacyClient.open(serving.port);
    const payload = { origin: 'another', message: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } } };
    await messageBus.publish({ topic: `session:${sessionId}`, payload });
    await until(() => logged.length > 0);
    expect(logged).toEqual(['News of a session from another machine could not be handled']);
  });

  it('[ROBUSTNESS-4] answers on the stream of HTTP+SSE, whose POST is answered already', async () => {
    const endpoint = new FailingEndpoint();
    serving = await serve(face, endpoint, { logger, sse: true });
    const stream = await openSse();
    const path = (await stream.event())?.data ?? '';
    endpoint.rejects = () => true;
    const headers = { 'content-type': 'application/json' };
    const accepted = await send(serving.port, { path, headers, body: '{"jsonrpc":"2.0","id":7,"method":"ping"}' });
    expect(accepted.status).toBe(202);
    expect(await stream.nextMessage()).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'Internal error' } });
    await send(serving.port, { path, headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
    await until(() => logged.length === 2);
    expect(logged).toEqual([FAILED, FAILED]);
  });

  it('[ROBUSTNESS-8] holds no stream of HTTP+SSE that it could open no session for', async () => {
    const endpoint = new ScriptedEndpoint();
    const openSession = endpoint.openSession.bind(endpoint);
    endpoint.openSession = () => {
      throw new Error('not now');
    };
    serving = await serve(face, endpoint, { logger, sse: true, maxSessions: 2 });
    for (let times = 0; times < 3; times++) expect((await openSse()).status).toBe(500);
    expect(serving.handler.counts.streams).toBe(0);
    endpoint.openSession = openSession;
    expect((await openSse()).status).toBe(200);
  });
});

describe.each(FACES)('other parts that fail, over the %s face', (face) => {
  it('[ROBUSTNESS-4][ROBUSTNESS-5] answers 500 where no header can carry what a verifier says', async () => {
    const challenge = 'Bearer error_description="ключ просрочен"';
    const refusal = new AuthChallengeError('no', { status: 401, challenge });
    serving = await serve(face, new ScriptedEndpoint(), { logger, tokenVerifier: { verify: () => Promise.reject(refusal) } });
    const answer = await modernTool(serving.port, 'echo');
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: -32603, message: 'Internal error' } }]);
    expect(logged).toEqual(['A refusal could not be sent']);
  });

  it('[ROBUSTNESS-4][ROBUSTNESS-5] answers 500 where no header can carry the challenge for a scope', async () => {
    const tokenVerifier = {
      verify: () => Promise.resolve({ principal: 'ada', scopes: [] }),
      challengeScopes: () => 'Bearer error_description="мало"',
    };
    const endpoint = new ScriptedEndpoint();
    endpoint.handle = ({ id }) =>
      Promise.resolve({ jsonrpc: '2.0', id, error: { code: 403, message: 'scope', data: { requiredScopes: ['all'] } } });
    serving = await serve(face, endpoint, { logger, tokenVerifier });
    expect((await modernTool(serving.port, 'echo')).status).toBe(500);
    expect(logged).toEqual([FAILED]);
  });

  it('[ROBUSTNESS-4][ROBUSTNESS-5] answers 500 where nobody can say what a session is counted by', async () => {
    const told: unknown[] = [];
    const limitKey = (): string => {
      throw new Error('no tenant');
    };
    serving = await serve(face, new ScriptedEndpoint(), { limitKey, logger: { log: (...line) => told.push(line) } });
    const answer = await post(serving.port, initializeRequest());
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: -32603, message: 'Internal error' } }]);
    expect(told).toEqual([['error', FAILED, { error: 'Error: no tenant' }]]);
    expect((await modernTool(serving.port, 'echo')).status).toBe(200);
  });

  it('[ROBUSTNESS-8] lists and counts no session that the message bus takes no listener for', async () => {
    const messageBus = new FailingBus();
    messageBus.isFailing = true;
    serving = await serve(face, new ScriptedEndpoint(), { logger, messageBus, maxSessions: 1 });
    for (let times = 0; times < 3; times++) expect((await post(serving.port, initializeRequest())).status).toBe(500);
    expect(serving.handler.counts.sessions).toBe(0);
    messageBus.isFailing = false;
    await LegacyClient.open(serving.port);
    await LegacyClient.open(serving.port);
    expect(serving.handler.counts.sessions).toBe(1);
  });

  it.each<[string, unknown]>([
    ['nothing at all', undefined],
    ['no payload', {}],
    ['a payload of null', { payload: null }],
    ['a payload of text', { payload: 'text' }],
    ['what is no message', { payload: { origin: 'another', message: { jsonrpc: '1.0' } } }],
    ['a message of null', { payload: { origin: 'another', message: null } }],
  ])('[ROBUSTNESS-5] logs it where the message bus delivers %s, and goes on', async (_what, event) => {
    const listeners: ((event: never) => void)[] = [];
    const messageBus: MessageBus = {
      subscribe: async (_topic, listener) => {
        listeners.push(listener);
        return () => undefined;
      },
      publish: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    serving = await serve(face, new ScriptedEndpoint(), { logger, messageBus });
    const client = await LegacyClient.open(serving.port);
    for (const listener of listeners) listener(event as never);
    await until(() => logged.length === 1);
    expect(logged).toEqual(['News of a session from another machine could not be handled']);
    expect((await client.tool('echo')).status).toBe(200);
  });

  it('[ROBUSTNESS-8] ends and counts sessions all the same where the message bus fails to unsubscribe', async () => {
    const unsubscribe = (): void => {
      throw new Error('no bus');
    };
    const messageBus: MessageBus = { subscribe: async () => unsubscribe, publish: () => Promise.resolve(), close: () => Promise.resolve() };
    serving = await serve(face, new ScriptedEndpoint(), { logger, messageBus, maxSessionsPerKey: 2 });
    for (let times = 0; times < 5; times++) await LegacyClient.open(serving.port);
    const client = await LegacyClient.open(serving.port);
    const get = await client.get();
    expect(serving.handler.counts.sessions).toBe(2);
    await serving.handler.close();
    expect(await get.events()).toEqual([]);
    expect(serving.handler.counts).toEqual({ sessions: 0, streams: 0, calls: 0 });
    expect(logged).toEqual(Array(6).fill('The message bus failed to end the subscription of a session'));
  });

  it('ends every close as soon as nothing runs any more', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('slow', async () => {
      await go.promise;
      return text('finished');
    });
    // Its time stands still: nothing ends because it has lasted long enough.
    serving = await serve(face, endpoint, { clock: new FakeClock() });
    const { handler } = serving;
    const slow = modernTool(serving.port, 'slow');
    await until(() => handler.counts.calls === 1);
    const closings = [handler.close({ drainMs: 60_000 }), handler.close({ drainMs: 60_000 })];
    go.open();
    await Promise.all(closings);
    expect((await slow).status).toBe(200);
  });
});
