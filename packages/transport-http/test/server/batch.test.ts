import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { post } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { progress, ScriptedEndpoint, text } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

const BATCHING = '2025-03-26';

function call(id: string | number, name = 'echo', args: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

describe.each(FACES)('batches over the %s face', (face) => {
  it('[BATCH-005] answers a batch with requests by one JSON array where nothing precedes the answers', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, BATCHING);
    const answer = await client.post([call(1), { jsonrpc: '2.0', method: 'notifications/x' }, call('1')]);
    const responses = JSON.parse(await answer.text()) as JsonObject[];
    expect([answer.status, responses.map(({ id }) => id)]).toEqual([200, [1, '1']]);
    const single = await client.post([call(7)]);
    expect(JSON.parse(await single.text())).toMatchObject([{ id: 7 }]);
  });

  it('[BATCH-005] accepts a batch of responses and notifications with 202 and no body', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port, BATCHING);
    const messages = [
      { jsonrpc: '2.0', id: 5, result: {} },
      { jsonrpc: '2.0', method: 'notifications/x' },
    ];
    const answer = await client.post(messages);
    expect([answer.status, await answer.text(), endpoint.received.slice(-2)]).toEqual([202, '', messages]);
  });

  it('[BATCH-006][BATCH-007] streams one response for each request where something precedes them', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('tick', async ({ call: exchange, args }) => {
      await exchange.send(progress(String(args['me']), 1));
      return text('x');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port, BATCHING);
    const answer = await client.post([call(1, 'tick', { me: 'a' }), call(2, 'tick', { me: 'b' }), call(3)]);
    const messages = (await answer.events()).map(({ data }) => JSON.parse(data) as JsonObject);
    expect(
      messages
        .filter((message) => 'result' in message)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([1, 2, 3]);
    expect(messages.filter((message) => 'method' in message)).toHaveLength(2);
  });

  it('[BATCH-004] refuses a batch that mixes requests and responses', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, BATCHING);
    expect((await client.post([call(1), { jsonrpc: '2.0', id: 5, result: {} }])).status).toBe(400);
  });

  it('[BATCH-009] answers an empty batch with one -32600, and bad members with one each', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, BATCHING);
    const empty = await client.post([]);
    expect([empty.status, (await empty.json())['error']]).toMatchObject([400, { code: -32600 }]);
    const bad = JSON.parse(await (await client.post([1, { jsonrpc: '2.0', id: 3, method: 4 }, call(9)])).text()) as JsonObject[];
    expect(bad).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: 3, error: { code: -32600 } },
      { id: 9, result: {} },
    ]);
  });

  it('[BATCH-003] refuses initialize in a batch', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessions: false });
    expect((await post(serving.port, [initializeRequest(BATCHING)])).status).toBe(400);
  });

  it('[BATCH-010] refuses a batch in every other revision, whatever the header says', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    for (const version of ['2025-06-18', LEGACY]) {
      const client = await LegacyClient.open(serving.port, version);
      for (const headers of [{}, { 'mcp-protocol-version': BATCHING }]) {
        const answer = await client.post([call(1)], headers);
        expect([answer.status, (await answer.json())['error']]).toMatchObject([400, { code: -32600 }]);
      }
    }
  });

  it('[BATCH-001] takes a batch without a session and a version for one of the assumed version', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessions: false });
    expect((await post(serving.port, [call(1)])).status).toBe(200);
    expect((await post(serving.port, [call(1)], { 'mcp-protocol-version': LEGACY })).status).toBe(400);
  });

  it('[ROBUSTNESS-7] bounds the length of a batch', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, BATCHING);
    const batch = Array.from({ length: 101 }, (_, at) => call(at));
    expect((await client.post(batch.slice(0, 100))).status).toBe(200);
    expect((await client.post(batch)).status).toBe(400);
  });
});
