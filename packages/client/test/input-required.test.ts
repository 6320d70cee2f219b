/** Results that ask, and the retries that answer. */

import type { JsonObject, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { type ElicitResult, NEWEST } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { complete, info, modernScript, type Reply, ScriptedServer } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(
  answer: (request: JsonRpcRequest, round: number) => Reply,
  options: ClientOptions = {},
  method = 'tools/call',
): Promise<{ client: McpClient; server: ScriptedServer }> {
  let round = 0;
  const server = new ScriptedServer(
    modernScript({ [method]: (request) => answer(request, (round += 1)), 'tools/list': () => complete(NEWEST, { tools: [] }) }),
  );
  const client = await McpClient.connect(server.factory, info, options);
  open.push(client);
  return { client, server };
}

const accept = (): ElicitResult => ({ action: 'accept', content: { name: 'Ada' } });
const question = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'who?', requestedSchema: { type: 'object', properties: {} } },
};
const ask = (rest: JsonObject): Reply => ({ result: { resultType: 'input_required', ...rest } });
const done = complete(NEWEST, { content: [] });

describe('a result that asks', () => {
  it('is given up when the client closes while the user answers', async () => {
    let reached: (signal: AbortSignal) => void = () => undefined;
    const shown = new Promise<AbortSignal>((resolve) => (reached = resolve));
    const elicitation = (_params: unknown, { signal }: { readonly signal: AbortSignal }): Promise<ElicitResult> => {
      reached(signal);
      return new Promise(() => undefined);
    };
    const { client } = await connect(() => ask({ inputRequests: { who: question } }), { elicitation });
    const called = client.callTool('x');
    const signal = await shown;
    await Promise.all([client.close(), expect(called).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' })]);
    expect(signal.aborted).toBe(true);
  });

  it('[MRTR-009][MRTR-013][MRTR-014] is answered in full, and the same is asked again with all of _meta', async () => {
    const { client, server } = await connect(
      (_request, round) =>
        round === 1 ? ask({ inputRequests: { who: question, where: { method: 'roots/list' } }, requestState: 's' }) : done,
      {
        elicitation: accept,
        roots: [{ uri: 'file:///a' }],
      },
    );
    await client.callTool('x', { a: 1 }, { meta: { 'x.example/y': 2 } });
    const [first, second] = server.requests('tools/call');
    expect(second?.params).toMatchObject({
      name: 'x',
      arguments: { a: 1 },
      inputResponses: { who: { action: 'accept', content: { name: 'Ada' } }, where: { roots: [{ uri: 'file:///a' }] } },
      requestState: 's',
      _meta: {
        [META_PROTOCOL_VERSION]: NEWEST.version,
        [META_CLIENT_CAPABILITIES]: { elicitation: { form: {} }, roots: {} },
        'x.example/y': 2,
      },
    });
    expect(first?.params).not.toHaveProperty('inputResponses');
  });

  it('[ELICIT-010] is answered with the defaults of required fields that an accepted form leaves out', async () => {
    const properties = { who: { type: 'string', default: 'Ada' }, age: { type: 'integer', default: 36 }, note: { type: 'string' } };
    const requestedSchema = { type: 'object', properties, required: ['who'] };
    const form = { method: 'elicitation/create', params: { message: 'm', requestedSchema } };
    const answerTo = async (answer: ElicitResult): Promise<unknown> => {
      const { client, server } = await connect((_request, round) => (round === 1 ? ask({ inputRequests: { form } }) : done), {
        elicitation: () => answer,
      });
      await client.callTool('x');
      return server.requests('tools/call')[1]?.params?.['inputResponses'];
    };
    expect(await answerTo({ action: 'accept', content: { age: 1 } })).toEqual({
      form: { action: 'accept', content: { who: 'Ada', age: 1 } },
    });
    expect(await answerTo({ action: 'decline' })).toEqual({ form: { action: 'decline' } });
  });

  it('[MRTR-018][PAT-004] is retried under another id and another progress token', async () => {
    const { client, server } = await connect((_request, round) => (round === 1 ? ask({ requestState: 's' }) : done));
    await client.callTool('x');
    const [first, second] = server.requests('tools/call');
    expect(second?.id).not.toBe(first?.id);
    expect(second?.params).toMatchObject({ _meta: { progressToken: second?.id } });
  });

  it.each(['', 'a', '\u0000\ud83d\ude00"\\', ' {"a":1} ', 'x'.repeat(100_000)])(
    '[MRTR-015][MRTR-016][PAT-005] gets its requestState back byte for byte',
    async (requestState) => {
      const { client, server } = await connect((_request, round) => (round === 1 ? ask({ requestState }) : done));
      await client.callTool('x');
      expect(server.requests('tools/call')[1]?.params?.['requestState']).toBe(requestState);
    },
  );

  it('[MRTR-017] gets no state back that only an earlier result had, and no earlier answers', async () => {
    const rounds = [
      ask({ inputRequests: { a: question }, requestState: 'one' }),
      ask({ inputRequests: { b: question } }),
      ask({ requestState: 'three' }),
      done,
    ];
    const { client, server } = await connect((_request, round) => rounds[round - 1] ?? done, { elicitation: accept });
    await client.callTool('x');
    const params = server.requests('tools/call').map((request) => ({
      state: request.params?.['requestState'],
      keys: Object.keys((request.params?.['inputResponses'] ?? {}) as JsonObject),
    }));
    expect(params).toEqual([
      { state: undefined, keys: [] },
      { state: 'one', keys: ['a'] },
      { state: undefined, keys: ['b'] },
      { state: 'three', keys: [] },
    ]);
    expect(server.requests('tools/call')[3]?.params).not.toHaveProperty('inputResponses');
  });

  it('[MRTR-019] touches no other request that is in flight', async () => {
    const { client, server } = await connect(
      (request, round) =>
        request.params?.['name'] === 'asks' && round === 1 ? ask({ inputRequests: { a: question }, requestState: 's' }) : done,
      { elicitation: accept },
    );
    await Promise.all([client.callTool('asks'), client.callTool('other'), client.listTools()]);
    for (const request of [
      ...server.requests('tools/list'),
      ...server.requests('tools/call').filter(({ params }) => params?.['name'] === 'other'),
    ]) {
      expect(request.params).not.toHaveProperty('requestState');
      expect(request.params).not.toHaveProperty('inputResponses');
    }
  });

  it('is answered under keys that are names of what objects inherit', async () => {
    const inputRequests = JSON.parse(
      `{"__proto__": ${JSON.stringify(question)}, "constructor": ${JSON.stringify(question)}}`,
    ) as JsonObject;
    const { client, server } = await connect((_request, round) => (round === 1 ? ask({ inputRequests }) : done), { elicitation: accept });
    await client.callTool('x');
    const responses = server.requests('tools/call')[1]?.params?.['inputResponses'] as JsonObject;
    expect(Object.keys(responses)).toEqual(['__proto__', 'constructor']);
  });

  it.each([
    { method: 'prompts/get', call: (client: McpClient) => client.getPrompt('p'), result: { messages: [] } },
    { method: 'resources/read', call: (client: McpClient) => client.readResource('a:b'), result: { contents: [] } },
  ])('may come from $method too', async ({ method, call, result }) => {
    const { client } = await connect(
      (_request, round) => (round === 1 ? ask({ requestState: 's' }) : complete(NEWEST, result)),
      {},
      method,
    );
    await expect(call(client)).resolves.toMatchObject(result);
  });

  it('is followed at most ten times', async () => {
    const { client, server } = await connect(() => ask({ requestState: 's' }));
    await expect(client.callTool('x')).rejects.toMatchObject({
      code: 'ERR_INPUT_REQUIRED',
      message: expect.stringContaining('more than 10 times'),
    });
    expect(server.requests('tools/call')).toHaveLength(11);
  });

  it.each([
    {
      what: 'a handler is missing',
      result: { inputRequests: { a: { method: 'sampling/createMessage', params: {} } } },
      says: 'has no handler for it: set one',
    },
    { what: 'the question is no request', result: { inputRequests: { a: 'who?' } }, says: 'that has no "method"' },
    { what: 'the questions are no object', result: { inputRequests: [question] }, says: 'not an object' },
    { what: 'nothing is asked', result: {}, says: 'sent neither "inputRequests" nor' },
    {
      what: 'too much is asked at once',
      result: { inputRequests: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, question])) },
      says: 'the limit is 100',
    },
  ])('[MRTR-013] ends the request without a retry where $what', async ({ result, says }) => {
    const { client, server } = await connect(() => ask(result as JsonObject), { elicitation: accept });
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_INPUT_REQUIRED', message: expect.stringContaining(says) });
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('[SAMP-014][ROOT-006] is not retried where a handler fails, and the other handlers are told to stop', async () => {
    let stopped = false;
    const { client, server } = await connect(
      () => ask({ inputRequests: { a: question, b: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } } }),
      {
        elicitation: () => Promise.reject(new Error('the user left')),
        sampling: (_params, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              stopped = true;
              reject(signal.reason as Error);
            });
          }),
      },
    );
    await expect(client.callTool('x')).rejects.toThrow('the user left');
    expect(stopped).toBe(true);
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('[ROOT-006] is not retried where the roots cannot be listed', async () => {
    const { client, server } = await connect(() => ask({ inputRequests: { a: { method: 'roots/list' } } }), {
      roots: () => Promise.reject(new Error('the disk is gone')),
    });
    await expect(client.callTool('x')).rejects.toThrow('the disk is gone');
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it("is given up by the caller's signal while the user thinks", async () => {
    const controller = new AbortController();
    const { client, server } = await connect(() => ask({ inputRequests: { a: question } }), {
      elicitation: () => {
        controller.abort(new Error('enough'));
        return new Promise<ElicitResult>(() => undefined);
      },
    });
    await expect(client.callTool('x', {}, { signal: controller.signal })).rejects.toThrow('enough');
    expect(server.requests('tools/call')).toHaveLength(1);
  });
});

it('handlers that are set later are declared from then on', async () => {
  const { client, server } = await connect((_request, round) => (round === 1 ? ask({ inputRequests: { a: question } }) : done));
  client.onElicit(accept);
  await client.callTool('x');
  expect(server.requests('tools/call')[0]?.params).toMatchObject({ _meta: { [META_CLIENT_CAPABILITIES]: { elicitation: { form: {} } } } });
});
