/** The tools of a host in the AI SDK, with its own mock model. */

import { EventEmitter, once } from 'node:events';
import { generateText, isStepCount, simulateReadableStream, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { aiSdkTools } from '../../src/ai-sdk.ts';
import { makeServer, openHost, reach } from '../servers.ts';
import { openLab, PIXEL } from './lab.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as Generated['usage'];

/** A model that makes calls, each in a step of its own, and then says "done". */
function scriptedModel(...calls: readonly (readonly [tool: string, input: object])[]): MockLanguageModelV4 {
  const steps = calls.map(([toolName, input], index): Generated => ({
    content: [{ type: 'tool-call', toolCallId: `call${index}`, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  }));
  const last: Generated = {
    content: [{ type: 'text', text: 'done' }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  };
  return new MockLanguageModelV4({ doGenerate: [...steps, last] });
}

/** What the model was told last: the results of tools, by the id of their call. */
function resultsFor({ doGenerateCalls }: MockLanguageModelV4): Record<string, unknown> {
  const parts = (doGenerateCalls.at(-1)?.prompt ?? []).flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return Object.fromEntries(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.output]] : [])));
}

describe('the AI SDK', () => {
  it('uses two tools in two steps: structured content as JSON, an image as a file', async () => {
    const { host } = openLab();
    const model = scriptedModel(['lab__add', { a: 1, b: 2 }], ['lab__draw', {}]);
    const { text, steps } = await generateText({
      model,
      tools: await aiSdkTools(host, { waitMs: 60_000 }),
      prompt: 'Go',
      stopWhen: isStepCount(5),
    });
    expect([text, steps.length]).toEqual(['done', 3]);
    expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({
      name: 'lab__add',
      description: 'Adds two numbers',
      inputSchema: { type: 'object', required: ['a', 'b'] },
    });
    expect(resultsFor(model)).toMatchObject({
      call0: { type: 'json', value: { sum: 3 } },
      call1: {
        type: 'content',
        value: [
          { type: 'text', text: 'a dot' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } },
        ],
      },
    });
  });

  it('gets errors of tools and of the policy as tool errors, and goes on', async () => {
    const { host } = openLab({ policy: ({ name }) => name !== 'lab__draw' });
    const model = scriptedModel(['lab__fail', {}], ['lab__draw', {}]);
    const { text, steps } = await generateText({ model, tools: await aiSdkTools(host), prompt: 'Go', stopWhen: isStepCount(5) });
    expect(text).toBe('done');
    expect(steps.flatMap(({ content }) => content.flatMap((part) => (part.type === 'tool-error' ? [part.error] : [])))).toMatchObject([
      { cause: { isError: true } },
      { code: 'ERR_TOOL_REFUSED' },
    ]);
    expect(resultsFor(model)).toMatchObject({
      call0: { type: 'error-text', value: expect.stringContaining('the disk is full') as string },
      call1: { type: 'error-text', value: expect.stringContaining('the policy did not allow it') as string },
    });
  });

  it('calls tools with any of the options', async () => {
    const { host } = openLab();
    const model = scriptedModel(['lab__add', { a: 1, b: 2 }]);
    const tools = await aiSdkTools(host, { waitMs: 60_000, timeoutMs: 60_000, signal: new AbortController().signal });
    await generateText({ model, tools, prompt: 'Go', stopWhen: isStepCount(5) });
    expect(resultsFor(model)).toMatchObject({ call0: { type: 'json', value: { sum: 3 } } });
  });

  it('gets the newest progress alone where it reads slowly', async () => {
    const server = makeServer('lab');
    const sent = new EventEmitter();
    const all = once(sent, 'all');
    server.registerTool('count', {}, async (ctx) => {
      for (let step = 1; step <= 100; step += 1) await ctx.progress(step);
      sent.emit('all');
      return 'counted';
    });
    const { lab__count: count } = await aiSdkTools(openHost({ servers: { lab: reach(server) } }));
    const outputs: unknown[] = [];
    for await (const output of count?.execute?.({}, { toolCallId: 'c1', messages: [], context: {} }) as AsyncIterable<unknown>) {
      await all;
      outputs.push(output);
    }
    expect(outputs.length).toBeLessThan(10);
    expect(outputs.slice(-2)).toMatchObject([{ progress: 100 }, { content: [{ text: 'counted' }] }]);
  });

  it('gets progress as preliminary results', async () => {
    const { host } = openLab();
    const model = new MockLanguageModelV4({
      doStream: {
        stream: simulateReadableStream({
          initialDelayInMs: null,
          chunkDelayInMs: null,
          chunks: [
            { type: 'stream-start', warnings: [] },
            { type: 'tool-call', toolCallId: 'call0', toolName: 'lab__steps', input: '{}' },
            { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
          ],
        }),
      },
    });
    const outputs: unknown[] = [];
    const { stream } = streamText({ model, tools: await aiSdkTools(host), prompt: 'Go' });
    for await (const part of stream) if (part.type === 'tool-result') outputs.push([part.preliminary ?? false, part.output]);
    expect(outputs[0]).toMatchObject([true, { progress: 1, total: 2, message: 'half' }]);
    expect(outputs.at(-1)).toMatchObject([false, { content: [{ text: 'whole' }] }]);
  });

  it('cancels the call when the generation is aborted', async () => {
    const { host, waiting, cancelled } = openLab();
    const controller = new AbortController();
    const model = scriptedModel(['lab__wait', {}]);
    const generating = generateText({ model, tools: await aiSdkTools(host), prompt: 'Go', abortSignal: controller.signal });
    await waiting;
    controller.abort();
    await cancelled;
    await generating.catch(() => undefined);
    expect(model.doGenerateCalls).toHaveLength(1);
  });
});
