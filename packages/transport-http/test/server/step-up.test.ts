/** A call of a legacy session that lacks scope, where answers can be resumed: whoever calls must learn it from the status all the same. */

import { afterEach, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import { ProtocolError } from '@mortise/jsonrpc-core';
import type { Authorizer, TokenVerifier } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import type { HttpHandlerOptions } from '@mortise/transport-http/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LEGACY, LegacyClient } from '../support/legacy-client.ts';
import type { Answer } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

/** Grants what stands in the token. */
const tokenVerifier: TokenVerifier = {
  verify: ({ token = '' }) => Promise.resolve({ principal: 'ada', scopes: token.split('.') }),
};
const BEARER = { authorization: 'Bearer read' };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'admin', arguments: {} } };

function lackOfScope(): ProtocolError {
  return new ProtocolError(403, 'more scope is needed', { requiredScopes: ['write'] });
}

describe.each(FACES)('a call without the scope it needs, with an event store, over the %s face', (face) => {
  let clock: FakeClock;
  let endpoint: ScriptedEndpoint;
  let client: LegacyClient;

  const begin = async (options: HttpHandlerOptions = {}): Promise<void> => {
    clock = new FakeClock();
    endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { tokenVerifier, clock, eventStore: new TestEventStore(), ...options });
    client = await LegacyClient.open(serving.port, LEGACY, BEARER);
  };
  const call = (): Promise<Answer> => client.post(CALL, BEARER);

  it('[AUTH-064][AUTH-085] is answered with 403 and the challenge', async () => {
    await begin();
    endpoint.tools.set('admin', () => Promise.reject(lackOfScope()));
    const answer = await call();
    expect([answer.status, answer.headers['www-authenticate'], await answer.json()]).toMatchObject([
      403,
      'Bearer error="insufficient_scope", scope="write"',
      { id: 1, error: { code: 403, data: { requiredScopes: ['write'] } } },
    ]);
    expect(clock.delaysMs.includes(200)).toBe(false);
  });

  it('[HTTP-029] has its stream begun after 200 ms, with the priming event, and its error in it then', async () => {
    await begin();
    const go = gate();
    endpoint.tools.set('admin', async () => {
      await go.promise;
      throw lackOfScope();
    });
    const answering = call();
    await until(() => clock.delaysMs.includes(200));
    clock.advance(200);
    const answer = await answering;
    expect([answer.status, answer.isStream, await answer.event()]).toMatchObject([200, true, { data: '', retryMs: 1_000 }]);
    go.open();
    expect(await answer.nextMessage()).toMatchObject({ id: 1, error: { code: 403 } });
  });

  it('has its error in the stream where a message went out before', async () => {
    await begin();
    endpoint.tools.set('admin', async (run) => {
      await run.call.send(progress('t', 1));
      throw lackOfScope();
    });
    const answer = await call();
    const [priming, first, last] = await answer.events();
    expect([answer.status, priming?.data]).toEqual([200, '']);
    expect([first?.data, last?.data]).toEqual([expect.stringContaining('progress'), expect.stringContaining('403')]);
  });

  it('[HTTP-029][HTTP-031] can still be closed early, and answers that lack nothing can still be resumed', async () => {
    await begin();
    const go = gate();
    endpoint.tools.set('admin', async (run) => {
      run.call.closeStream?.(300);
      await go.promise;
      return text('done');
    });
    const events = await (await call()).events();
    expect(events).toMatchObject([{ data: '' }, { retryMs: 300 }]);
    const resumed = await client.get({ ...BEARER, 'last-event-id': events[0]?.id ?? '' });
    go.open();
    expect(await resumed.text()).toContain('done');
    endpoint.tools.set('admin', () => text('quick'));
    const [priming, answer] = await (await call()).events();
    expect([priming, answer]).toMatchObject([{ data: '', id: expect.stringMatching(/^p/) }, { id: expect.stringMatching(/^p/) }]);
    expect(clock.delaysMs.includes(200)).toBe(false);
  });

  it('begins its stream at once where nobody is known, who could lack no scope', async () => {
    await begin({ tokenVerifier: undefined });
    const go = gate();
    endpoint.tools.set('admin', async () => {
      await go.promise;
      return text('done');
    });
    const answer = await call();
    expect([answer.status, await answer.event()]).toMatchObject([200, { data: '' }]);
    go.open();
    expect(await answer.text()).toContain('done');
  });
});

describe('a client of a session with an event store', () => {
  it('[AUTH-064] gets a wider token in mid-session, and its call goes through', async () => {
    const server = new McpServer({ name: 'stepping', version: '1' });
    server.registerTool('admin', { scopes: ['write'] }, () => 'done');
    serving = await serve('node', server, { tokenVerifier, eventStore: new TestEventStore() });
    let token = 'read';
    const challenges: unknown[] = [];
    const authorizer: Authorizer = {
      headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
      onChallenge: ({ status, header }) => {
        challenges.push([status, header('WWW-Authenticate')]);
        token = 'read.write';
        return Promise.resolve('retry');
      },
    };
    const transport = httpTransport(`http://127.0.0.1:${serving.port}/mcp`, { authorizer });
    await using client = await McpClient.connect(transport, { name: 'test', version: '1' }, { protocolVersion: LEGACY });
    expect(await client.callTool('admin')).toMatchObject({ content: [{ text: 'done' }] });
    expect(challenges).toEqual([[403, 'Bearer error="insufficient_scope", scope="write"']]);
  });
});
