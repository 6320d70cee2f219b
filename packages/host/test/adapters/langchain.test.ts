/** The tools of a host in LangChain's agent, with its own fake model. */

import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createAgent } from 'langchain';
import { describe, expect, it } from 'vitest';
import { langchainTools } from '../../src/langchain.ts';
import { makeServer, openHost, reach } from '../servers.ts';
import { openLab, PIXEL } from './lab.ts';

const go = { messages: [{ role: 'user', content: 'Go' }] };

describe('an agent of LangChain', () => {
  it('uses tools in two steps: messages with structured content, images and errors, and the whole result as artifact', async () => {
    const { host } = openLab({ policy: ({ name }) => name !== 'lab__steps' });
    const model = fakeModel()
      .respondWithTools([{ name: 'lab__add', args: { a: 1, b: 2 }, id: 'c1' }])
      .respondWithTools([
        { name: 'lab__draw', args: {}, id: 'c2' },
        { name: 'lab__fail', args: {}, id: 'c3' },
        { name: 'lab__steps', args: {}, id: 'c4' },
      ])
      .respond(new AIMessage('done'));
    const agent = createAgent({ model, tools: await langchainTools(host) });
    const { messages } = await agent.invoke(go);
    expect(messages.at(-1)?.content).toBe('done');
    const answers = messages.filter((message) => ToolMessage.isInstance(message));
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
    expect(answers.map(({ tool_call_id, status, content }) => [tool_call_id, status, content])).toEqual([
      ['c1', 'success', '{"sum":3}'],
      ['c2', 'success', [{ type: 'text', text: 'a dot' }, image]],
      ['c3', 'error', [{ type: 'text', text: 'the disk is full' }, image]],
      ['c4', 'error', 'the tool "lab__steps" was not called: the policy did not allow it'],
    ]);
    expect(answers[0]?.artifact).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it('calls tools with any of the options', async () => {
    const { host } = openLab();
    const [add] = await langchainTools(host, { waitMs: 60_000, timeoutMs: 60_000, signal: new AbortController().signal });
    expect(await add?.invoke({ a: 1, b: 2 })).toBe('{"sum":3}');
  });

  it('[ROBUSTNESS-6] sees the schema of a tool, and leaves the check of arguments to the server', async () => {
    const server = makeServer('lab');
    const pattern = '^(a+)+$';
    server.registerTool('find', { inputSchema: { type: 'object', properties: { q: { type: 'string', pattern } } } }, () => 'found');
    server.use('tools/call', () => ({ content: [{ type: 'text', text: 'no such letters' }], isError: true }));
    const [find] = await langchainTools(openHost({ servers: { lab: reach(server) } }));
    expect(find?.schema).toMatchObject({ properties: { q: { pattern } } });
    const answer: unknown = await find?.invoke({ type: 'tool_call', id: 'c1', name: 'lab__find', args: { q: `${'a'.repeat(50)}!` } });
    expect(answer).toMatchObject({ status: 'error', content: 'no such letters', tool_call_id: 'c1' });
    await expect(find?.invoke('a' as never)).rejects.toThrow('the arguments for "lab__find" must be a JSON object: a');
  });

  it('gets progress as events of the tool', async () => {
    const { host } = openLab();
    const [tool] = (await langchainTools(host)).filter(({ name }) => name === 'lab__steps');
    const events: unknown[] = [];
    const content = await tool?.invoke({}, { callbacks: [{ handleToolEvent: (event: unknown) => void events.push(event) }] });
    expect(content).toBe('whole');
    expect(events).toMatchObject([{ progress: 1, total: 2, message: 'half' }]);
  });

  it('cancels the call when its run is cancelled', async () => {
    const { host, waiting, cancelled } = openLab();
    const model = fakeModel().respondWithTools([{ name: 'lab__wait', args: {}, id: 'c1' }]);
    const controller = new AbortController();
    const running = createAgent({ model, tools: await langchainTools(host) }).invoke(go, { signal: controller.signal });
    const failed = expect(running).rejects.toThrow();
    await waiting;
    controller.abort();
    await cancelled;
    await failed;
  });

  it('throws the error of a tool that is called without an agent', async () => {
    const { host } = openLab();
    const [tool] = (await langchainTools(host)).filter(({ name }) => name === 'lab__fail');
    await expect(tool?.invoke({})).rejects.toThrow('the disk is full');
  });
});
