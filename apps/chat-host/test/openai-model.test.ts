/** The model behind an OpenAI-compatible endpoint: a real HTTP server that streams as such endpoints do. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Model } from '../src/model.ts';
import { openAiModel } from '../src/openai-model.ts';

interface Received {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** Starts an endpoint that answers each request in turn. */
async function serve(...answers: readonly ((response: ServerResponse) => void)[]): Promise<{ model: Model; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url, headers } = request;
    received.push({ url, authorization: headers.authorization, body: JSON.parse(Buffer.concat(chunks).toString()) });
    answers[received.length - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { model: openAiModel({ baseUrl: `http://127.0.0.1:${port}/v1/`, apiKey: 'secret', model: 'm1' }), received };
}

/** Streams chunks as events, a few bytes at a time. */
const stream =
  (...chunks: readonly object[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
    for (let at = 0; at < text.length; at += 7) response.write(text.subarray(at, at + 7));
    response.end();
  };
const delta = (part: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta: part, finish_reason: finish }] });

const request = { messages: [{ role: 'user', content: 'Hi' }] as const, tools: [], signal: new AbortController().signal };

describe('an OpenAI-compatible endpoint', () => {
  it('streams a text, and then a tool call in parts; the result of the tool goes back with its id', async () => {
    const { model, received } = await serve(
      stream(
        delta({ role: 'assistant', content: 'Let me ' }),
        delta({ content: 'lö🍐k.' }),
        delta({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'shop__buy', arguments: '{"fru' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: 'it":"pear"}' } }] }),
        delta({ tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'clock', arguments: '' } }] }),
        delta({}, 'tool_calls'),
      ),
      stream(delta({ content: 'Bought.' }, 'stop')),
    );
    const parts: string[] = [];
    const buy = { name: 'shop__buy', description: 'Buys', parameters: { type: 'object' } };
    const tools = [{ type: 'function' as const, function: buy }];
    const first = await model.answer({ ...request, tools, onText: (text) => parts.push(text) });
    const calls = [
      { id: 'c1', type: 'function', function: { name: 'shop__buy', arguments: '{"fruit":"pear"}' } },
      { id: 'c2', type: 'function', function: { name: 'clock', arguments: '' } },
    ];
    expect(first).toEqual({ role: 'assistant', content: 'Let me lö🍐k.', tool_calls: calls });
    expect(parts).toEqual(['Let me ', 'lö🍐k.']);
    const messages = [...request.messages, first, { role: 'tool' as const, tool_call_id: 'c1', content: 'sold' }];
    expect(await model.answer({ ...request, messages, maxTokens: 9, onText: () => undefined })).toEqual({
      role: 'assistant',
      content: 'Bought.',
    });
    expect(received[0]).toMatchObject({
      url: '/v1/chat/completions',
      authorization: 'Bearer secret',
      body: { model: 'm1', stream: true, tools: [{ type: 'function', function: { name: 'shop__buy', parameters: { type: 'object' } } }] },
    });
    expect(received[1]?.body).toMatchObject({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shop__buy' } }, { id: 'c2' }] },
        { role: 'tool', tool_call_id: 'c1', content: 'sold' },
      ],
    });
    expect(received[1]?.body).not.toHaveProperty('tools');
  });

  it('may answer with one JSON document', async () => {
    const message = { choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] };
    const { model } = await serve((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message)),
    );
    expect(await model.answer({ ...request, onText: () => undefined })).toEqual({ role: 'assistant', content: 'Hello' });
  });

  it.each([
    ['refuses', (response: ServerResponse) => response.writeHead(401).end('no such key'), 'answered 401: no such key'],
    ['fails in the middle', stream(delta({ content: 'He' }), { error: { message: 'overloaded' } }), 'reported: overloaded'],
    ['is cut off', stream(delta({ content: 'He' })), 'was cut off'],
  ] as const)('that %s gives an error that says so', async (_what, answer, message) => {
    const { model } = await serve((response) => void answer(response));
    await expect(model.answer({ ...request, onText: () => undefined })).rejects.toThrow(message);
  });

  it('is no longer waited for when the user stops it', async () => {
    const { model } = await serve((response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(delta({ content: 'He' }))}\n\n`),
    );
    const stop = new AbortController();
    const answered = model.answer({ ...request, signal: stop.signal, onText: () => stop.abort(new Error('enough')) });
    await expect(answered).rejects.toThrow('enough');
  });
});
