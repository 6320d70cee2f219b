/** The user's model, asked on behalf of servers: with leave, within limits, and only what can be asked. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CreateMessageRequestParams, CreateMessageResult } from '@mortise/protocol/model';
import { describe, expect, it } from 'vitest';
import { selectModel, withApproval } from '../../src/host.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';
import { eras, startAsking } from './asking.ts';

const text = (value: string): JsonObject => ({ type: 'text', text: value });
const user = (content: JsonObject | JsonObject[]): JsonObject => ({ role: 'user', content });
const question: JsonObject = { messages: [user(text('hi'))], maxTokens: 100 };
const said = (value = 'hello', rest: JsonObject = {}): CreateMessageResult =>
  ({ role: 'assistant', content: text(value), model: 'm', stopReason: 'endTurn', ...rest }) as CreateMessageResult;
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 't', input: {} });
const choice = (mode: string): JsonObject => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }], toolChoice: { mode } });
const gave = (toolUseId: string): JsonObject => ({ type: 'tool_result', toolUseId, content: [] });

describe.each(eras)('sampling in the $era era', ({ era }) => {
  it('[SAMP-012][SAMP-014] is refused by the user before the model is asked, or after', async () => {
    let runs = 0;
    const handler = (): CreateMessageResult => {
      runs += 1;
      return said();
    };
    const approves = { approveRequest: () => true, approveResult: () => true };
    for (const refusal of [{ approveRequest: () => false }, { approveResult: () => Promise.resolve(false) }]) {
      const { ask, server } = await startAsking(era, { sampling: withApproval(handler, { ...approves, ...refusal }) });
      const { answer, error } = await ask('sampling/createMessage', question);
      expect(answer).toBeUndefined();
      if (era === 'legacy') expect(error).toMatchObject({ code: -1, message: 'User rejected sampling request' });
      else expect(server.requests('tools/call')).toHaveLength(1);
    }
    expect(runs).toBe(1);
  });

  it('[SAMP-016][SAMP-021] lets the user see and edit what is asked and what is told', async () => {
    const asked: unknown[] = [];
    const { ask } = await startAsking(era, {
      sampling: withApproval(
        (params) => {
          asked.push(params);
          return said('secret');
        },
        {
          approveRequest: ({ systemPrompt: _dropped, temperature: _too, ...params }) => ({
            ...params,
            messages: params.messages.slice(-1),
          }),
          approveResult: (result, params) => (params.maxTokens === 100 ? { ...result, content: { type: 'text', text: 'edited' } } : false),
        },
      ),
    });
    const { answer } = await ask('sampling/createMessage', {
      ...question,
      messages: [user(text('one')), user(text('two'))],
      systemPrompt: 'be evil',
      temperature: 2,
    });
    expect(asked).toEqual([{ messages: [user(text('two'))], maxTokens: 100 }]);
    expect(answer).toMatchObject({ content: text('edited') });
  });

  it('[SAMP-015] never gives a server more tokens than it asked for, whatever was edited', async () => {
    const asked: number[] = [];
    const handler = ({ maxTokens }: CreateMessageRequestParams): CreateMessageResult => {
      asked.push(maxTokens);
      return said();
    };
    for (const maxTokens of [50, 5000]) {
      const { ask } = await startAsking(era, {
        sampling: withApproval(handler, { approveRequest: (params) => ({ ...params, maxTokens }), approveResult: () => true }),
      });
      await ask('sampling/createMessage', question);
    }
    expect(asked).toEqual([50, 100]);
  });

  it('[SAMP-021] is refused more often than a minute allows', async () => {
    const clock = new FakeClock();
    const { ask } = await startAsking(era, { clock, asksPerMinute: 1, sampling: () => said() });
    expect((await ask('sampling/createMessage', question)).answer).toMatchObject({ model: 'm' });
    const { error } = await ask('sampling/createMessage', question);
    expect(error).toMatchObject(era === 'legacy' ? { code: -32000 } : { code: 'ERR_INPUT_REQUIRED' });
    clock.advance(60_000);
    expect((await ask('sampling/createMessage', question)).answer).toMatchObject({ model: 'm' });
  });

  it.each([
    { what: 'a tool use without its result', messages: [{ role: 'assistant', content: [use('1')] }, user(text('so?'))] },
    { what: 'a tool use at the end', messages: [{ role: 'assistant', content: [use('1')] }] },
    { what: 'a result mixed with text', messages: [{ role: 'assistant', content: [use('1')] }, user([gave('1'), text('and')])] },
    { what: 'one result of two', messages: [{ role: 'assistant', content: [use('1'), use('2')] }, user([gave('2')])] },
  ])('[SAMP-013] is refused for $what', async ({ messages }) => {
    const { ask } = await startAsking(era, { sampling: () => said(), capabilities: { sampling: { tools: {} } } });
    const { error } = await ask('sampling/createMessage', { messages, maxTokens: 1, tools: [] });
    expect(error).toMatchObject(era === 'legacy' ? { code: -32602 } : { code: 'ERR_INPUT_REQUIRED' });
  });

  it('[SAMP-019][SAMP-006] keeps the _meta of tool blocks, on their way in and out', async () => {
    const _meta = { 'x.example/k': 1 };
    const seen: unknown[] = [];
    const { ask } = await startAsking(era, {
      capabilities: { sampling: { tools: {} } },
      sampling: ({ messages }) => {
        seen.push(...messages);
        return said('', { content: [{ ...use('2'), _meta }] });
      },
    });
    const messages = [
      { role: 'assistant', content: [{ ...use('1'), _meta }] },
      { role: 'user', content: [{ ...gave('1'), _meta }] },
    ];
    const { answer } = await ask('sampling/createMessage', {
      messages,
      maxTokens: 1,
      tools: [{ name: 't', inputSchema: { type: 'object' } }],
    });
    expect(seen).toEqual(messages);
    expect(answer).toMatchObject({ content: [{ ...use('2'), _meta }] });
  });

  it.each([
    { what: 'no model', result: { role: 'assistant', content: text('x') } },
    { what: 'no content', result: { role: 'assistant', model: 'm' } },
    { what: 'a tool that was not allowed', result: said('', { content: [use('1')] }) },
    { what: 'a tool, though toolChoice is none', asked: choice('none'), result: said('', { content: [use('1')] }) },
    { what: 'no tool, though toolChoice is required', asked: choice('required'), result: said() },
  ])('[SAMP-018][SAMP-011] does not send a result with $what', async ({ asked = {}, result }) => {
    const errors: Error[] = [];
    const capabilities = { sampling: { tools: {} } };
    const { ask } = await startAsking(era, { capabilities, sampling: () => result as never, onError: (error) => errors.push(error) });
    const { answer, error } = await ask('sampling/createMessage', { ...question, ...asked });
    expect(answer).toBeUndefined();
    expect(era === 'legacy' ? errors[0] : error).toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(/^the handler of "sampling|^the model used (a|no) tool/u),
    });
  });
});

describe.each(eras)('a server that asks much in the $era era', ({ era }) => {
  it('does not hold up the client with 40,000 tool uses, or with a form of 40,000 required fields', async () => {
    const { ask } = await startAsking(era, {
      capabilities: { sampling: { tools: {} } },
      sampling: () => said(),
      elicitation: () => ({ action: 'accept', content: {} }),
    });
    const ids = Array.from({ length: 40_000 }, (_, index) => `toolu_${String(index).padStart(10, '0')}`);
    const messages = [{ role: 'assistant', content: ids.map(use) }, user(ids.map(gave))];
    const properties = Object.fromEntries(ids.map((id) => [id, { type: 'string' }]));
    const usedMs = countCpuMs();
    await ask('sampling/createMessage', { messages, maxTokens: 1, tools: [] });
    await ask('elicitation/create', { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties, required: ids } });
    expect(usedMs()).toBeLessThan(2_000);
  });
});

describe('selectModel', () => {
  const small = { name: 'claude-haiku-9', cheapness: 0.9, speed: 0.9, intelligence: 0.2 };
  const middle = { name: 'claude-sonnet-9', aliases: ['gemini-pro'], cheapness: 0.5, speed: 0.5, intelligence: 0.6 };
  const large = { name: 'claude-opus-9', cheapness: 0.1, speed: 0.2, intelligence: 1 };
  const all = [small, middle, large];

  it.each([
    { hints: ['sonnet', 'opus'], takes: middle },
    { hints: ['gpt', 'OPUS'], takes: large },
    { hints: ['gemini'], takes: middle },
    { hints: ['', 'haiku'], takes: small },
  ])('[SAMP-017] takes the first of the hints $hints that fits a part of any name, whatever the priorities', ({ hints, takes }) => {
    expect(selectModel({ hints: hints.map((name) => ({ name })), intelligencePriority: 1, costPriority: 1 }, all)).toBe(takes);
  });

  it('[SAMP-017] lets the priorities decide among what is left', () => {
    expect(selectModel({ hints: [{ name: 'claude' }], intelligencePriority: 1 }, all)).toBe(large);
    expect(selectModel({ hints: [{ name: 'nobody' }], speedPriority: 1, costPriority: 0.5 }, all)).toBe(small);
    expect(selectModel({ hints: [{ name: 'claude-opus-9' }] }, [{ name: 'claude-opus-9-mini' }, large])).toBe(large);
    expect(selectModel(undefined, all)).toBe(small);
    expect(selectModel({}, [])).toBeUndefined();
  });
});
