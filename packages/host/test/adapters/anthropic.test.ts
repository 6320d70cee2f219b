/** The tools of a host for Anthropic's Messages API, with the real library against a scripted endpoint. */

import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { anthropicTools, answerToolUses } from '../../src/anthropic.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';
import { makeServer, openHost, reach } from '../servers.ts';
import { openLab, PIXEL, serveModel } from './lab.ts';

const use = (id: string, name: string, input: object = {}): object => ({ type: 'tool_use', id, name, input });
const message = (content: readonly object[], stop_reason: string): object => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
});

describe('the Messages API', () => {
  it('uses tools in two steps: the answers hold structured content, errors, images and documents', async () => {
    const { host } = openLab();
    const { url, requests } = await serveModel([
      message([{ type: 'text', text: 'I add.' }, use('u1', 'lab__add', { a: 1, b: 2 })], 'tool_use'),
      message([use('u2', 'lab__draw'), use('u3', 'lab__fail'), use('u4', 'lab__files'), use('u5', 'lab__nothing')], 'tool_use'),
      message([{ type: 'text', text: 'done' }], 'end_turn'),
    ]);
    const anthropic = new Anthropic({ apiKey: 'none', baseURL: url });
    const tools = await anthropicTools(host);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go' }];
    for (;;) {
      const { content, stop_reason } = await anthropic.messages.create({ model: 'scripted', max_tokens: 100, messages, tools });
      if (stop_reason !== 'tool_use') break;
      messages.push({ role: 'assistant', content }, { role: 'user', content: await answerToolUses(host, content) });
    }
    expect((requests[0] as { tools: unknown[] }).tools[0]).toEqual({
      name: 'lab__add',
      description: 'Adds two numbers',
      input_schema: expect.objectContaining({ type: 'object', required: ['a', 'b'] }) as object,
    });
    const answers = (requests[2] as { messages: { content: unknown }[] }).messages;
    expect(answers[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'u1', content: [{ type: 'text', text: '{"sum":3}' }] }]);
    expect(answers[4]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'u2',
        content: [
          { type: 'text', text: 'a dot' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        ],
      },
      {
        type: 'tool_result',
        tool_use_id: 'u3',
        is_error: true,
        content: [{ type: 'text', text: 'the disk is full\n\n[a file of the type image/png, which is not shown]' }],
      },
      {
        type: 'tool_result',
        tool_use_id: 'u4',
        content: [
          { type: 'text', text: '[a file of the type audio/wav, which is not shown]' },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          { type: 'text', text: 'doc://note:\na note' },
          { type: 'text', text: 'Resource: doc://more (more)' },
        ],
      },
      { type: 'tool_result', tool_use_id: 'u5', content: [{ type: 'text', text: 'The tool returned nothing.' }] },
    ]);
  });

  it('gets an error for a call that the policy refuses, and for a server that is not there', async () => {
    const { host } = openLab({ policy: () => false });
    const answers = await answerToolUses(host, [
      { type: 'tool_use', id: 'u1', name: 'lab__draw', input: {} },
      { type: 'tool_use', id: 'u2', name: 'gone__draw', input: {} },
    ]);
    expect(answers).toMatchObject([
      { is_error: true, content: [{ text: 'the tool "lab__draw" was not called: the policy did not allow it' }] },
      { is_error: true, content: [{ text: 'no server has "gone__draw": use a name of host.tools() or host.prompts()' }] },
    ]);
  });

  it('takes time in proportion to its size, however many texts and values the server sends', async () => {
    const server = makeServer('large');
    const structuredContent = { list: Array.from({ length: 20_000 }, (_, index) => ({ index })) };
    server.registerTool('all', {}, () => ({
      content: Array.from({ length: 400 }, () => ({ type: 'text' as const, text: '1' })),
      structuredContent,
    }));
    const host = openHost({ servers: { large: reach(server) } });
    const cpuMs = countCpuMs();
    expect(await answerToolUses(host, [{ type: 'tool_use', id: 'u1', name: 'large__all', input: {} }])).toHaveLength(1);
    expect(cpuMs()).toBeLessThan(10_000);
  });

  it('reports progress with the call, and rejects when it is cancelled', async () => {
    const { host, waiting, cancelled } = openLab();
    const progress: unknown[] = [];
    await answerToolUses(host, [{ type: 'tool_use', id: 'u1', name: 'lab__steps', input: {} }], {
      onProgress: (...update) => progress.push(update),
    });
    expect(progress).toMatchObject([
      [
        { progress: 1, total: 2, message: 'half' },
        { id: 'u1', name: 'lab__steps' },
      ],
    ]);
    const controller = new AbortController();
    const uses = [{ type: 'tool_use', id: 'u2', name: 'lab__wait', input: {} }];
    const answering = answerToolUses(host, uses, { signal: controller.signal });
    await waiting;
    controller.abort(new Error('the user left'));
    await expect(answering).rejects.toThrow('the user left');
    await cancelled;
  });
});
