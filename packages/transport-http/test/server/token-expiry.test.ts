/** Streams that stay open do so no longer than the token that opened them. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, Authorizer, TokenVerifier } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modern } from '../support/modern.ts';
import type { Answer } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

const HOUR = 3_600_000;

let serving: Serving;
let clock: FakeClock;
beforeEach(() => void (clock = new FakeClock()));
afterEach(() => serving.close());

/** The token says for how many milliseconds it is good, from the start of the test; `0` forever. */
function verifier(startMs = clock.now()): TokenVerifier {
  return {
    verify: ({ token = '0' }): Promise<AuthInfo> => {
      const auth = { principal: 'ada', scopes: [] };
      if (token === '0') return Promise.resolve(auth);
      const expiresAtMs = startMs + Number(token);
      // As verifiers do, with a tolerance of ten seconds.
      if (expiresAtMs + 10_000 > clock.now()) return Promise.resolve({ ...auth, expiresAtMs });
      return Promise.reject(new AuthChallengeError('The token has expired', { status: 401, challenge: 'Bearer error="invalid_token"' }));
    },
  };
}

const bearer = (ms: number): Readonly<Record<string, string>> => ({ authorization: `Bearer ${ms}` });

describe.each(FACES)('an open stream over the %s face', (face) => {
  const KEEP_ALIVE = { stallMs: 30 * HOUR, sessionIdleMs: 30 * HOUR };
  const listen = (ms: number): Promise<Answer> => modern(serving.port, 'subscriptions/listen', { notifications: {} }, bearer(ms));

  it('of a listen ends when its token expires, without the result that would end the subscription, and is let go of', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { tokenVerifier: verifier(), clock, ...KEEP_ALIVE });
    const [short, long, endless] = [await listen(HOUR), await listen(2 * HOUR), await listen(0)];
    for (const answer of [short, long, endless]) await answer.event();
    clock.advance(HOUR - 1);
    expect(serving.handler.counts.streams).toBe(3);
    clock.advance(1);
    expect(await short.events()).toEqual([]);
    await until(() => serving.handler.counts.calls === 2);
    expect(endpoint.calls.map(({ isCancelled }) => isCancelled)).toEqual([true, false, false]);
    expect([long.hasEnded, endless.hasEnded, serving.handler.counts.streams]).toEqual([false, false, 2]);
    clock.advance(10 * HOUR);
    expect(await long.events()).toEqual([]);
    expect(endless.hasEnded).toBe(false);
  });

  it('of a listen lets go of its timer when the client leaves first', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: verifier(), clock, ...KEEP_ALIVE });
    const answer = await listen(HOUR);
    await answer.event();
    expect(clock.delaysMs).toContain(HOUR);
    answer.leave();
    await until(() => !clock.delaysMs.includes(HOUR));
    expect(serving.handler.counts.calls).toBe(0);
  });

  it('of a listen lives for a second where its token has expired within the verifier’s tolerance', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: verifier(), clock, ...KEEP_ALIVE });
    clock.advance(HOUR + 5_000);
    const answer = await listen(HOUR);
    await answer.event();
    clock.advance(999);
    expect(answer.hasEnded).toBe(false);
    clock.advance(1);
    expect(await answer.events()).toEqual([]);
  });

  it('of a session’s GET ends when its token expires; with a fresh one it is gone on with and nothing is lost', async () => {
    const endpoint = new ScriptedEndpoint();
    const options = { tokenVerifier: verifier(), clock, eventStore: new TestEventStore(), ...KEEP_ALIVE };
    serving = await serve(face, endpoint, options);
    const client = await LegacyClient.open(serving.port, LEGACY, bearer(HOUR));
    const stream = await client.get(bearer(HOUR));
    const id = (await stream.event())?.id ?? '';
    clock.advance(HOUR);
    expect(await stream.events()).toMatchObject([{ retryMs: 1_000 }]);
    await until(() => serving.handler.counts.streams === 0);
    void endpoint.sessions[0]?.link.send(progress('meanwhile', 1));
    clock.advance(60_000);
    expect((await client.get({ ...bearer(HOUR), 'last-event-id': id })).status).toBe(401);
    const resumed = await client.get({ ...bearer(2 * HOUR), 'last-event-id': id });
    expect(await resumed.nextMessage()).toMatchObject({ params: { progressToken: 'meanwhile' } });
    expect(clock.delaysMs).toContain(HOUR - 60_000);
    resumed.leave();
    await until(() => !clock.delaysMs.includes(HOUR - 60_000));
  });

  it('of a session’s GET ends without a word where the revision has none for when to come back', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: verifier(), clock, ...KEEP_ALIVE });
    const client = await LegacyClient.open(serving.port, '2025-06-18', bearer(HOUR));
    const stream = await client.get(bearer(HOUR));
    clock.advance(HOUR);
    expect(await stream.events()).toEqual([]);
    expect((await client.get(bearer(2 * HOUR))).status).toBe(200);
  });

  it('of an answer goes on: the call was let in while its token was good', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await go.promise;
      return text('done');
    });
    serving = await serve(face, endpoint, { tokenVerifier: verifier(), clock, ...KEEP_ALIVE });
    const answer = await modern(serving.port, 'tools/call', { name: 'long', arguments: {} }, bearer(HOUR));
    await answer.event();
    clock.advance(2 * HOUR);
    go.open();
    expect(await answer.text()).toContain('done');
  });
});

describe('a client whose authorizer has a fresh token', () => {
  it.each([undefined, LEGACY])('goes on listening when the old one expires (%s)', async (protocolVersion) => {
    const server = new McpServer({ name: 'listened', version: '1' });
    const tool = server.registerTool('a', {}, () => 'a');
    serving = await serve('node', server, { tokenVerifier: verifier(), clock, stallMs: 30 * HOUR });
    let goodForMs = HOUR;
    const authorizer: Authorizer = {
      headers: () => Promise.resolve(bearer(goodForMs)),
      onChallenge: () => Promise.resolve('fail'),
    };
    const transport = httpTransport(`http://127.0.0.1:${serving.port}/mcp`, { authorizer });
    const pinned = protocolVersion === undefined ? {} : { protocolVersion };
    await using client = await McpClient.connect(transport, { name: 'test', version: '1' }, pinned);
    const changes = client.listen({ toolsListChanged: true });
    await changes.accepted;
    await until(() => serving.handler.counts.streams === 1 && clock.delaysMs.includes(HOUR));
    goodForMs = 3 * HOUR;
    clock.advance(HOUR);
    await until(() => serving.handler.counts.streams === 1 && clock.delaysMs.includes(2 * HOUR));
    tool.update({ description: 'changed' });
    const methods: string[] = [];
    for await (const { method } of changes) {
      methods.push(method);
      if (method === 'notifications/tools/list_changed') break;
    }
    expect(methods.at(-1)).toBe('notifications/tools/list_changed');
  });
});
