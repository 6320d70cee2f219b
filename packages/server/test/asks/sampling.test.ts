/** `ctx.sample` in every revision. */

import { describe, expect, it } from 'vitest';
import { ALL, LEGACY, type Loose, MODERN } from '../raw-peer.ts';
import { MemoryLogger } from '../support.ts';
import { callIn, serverOf } from './chain.ts';

const text = (words: string): Loose => ({ type: 'text', text: words });
const user = (content: Loose): Loose => ({ role: 'user', content });
const assistant = (content: Loose): Loose => ({ role: 'assistant', content });
const use = (id: string, name = 'weather'): Loose => ({ type: 'tool_use', id, name, input: {} });
const result = (toolUseId: string, rest: Loose = {}): Loose => ({ type: 'tool_result', toolUseId, content: [text('18 C')], ...rest });
const reply = { role: 'assistant', content: text('Paris'), model: 'm', stopReason: 'endTurn' };
const tool = { name: 'weather', inputSchema: { type: 'object' } };

const OLD = LEGACY.slice(0, 3);
const NEW = ['2025-11-25', MODERN] as const;

/** Samples in a revision; the tool tells what it got, or the error. */
const sample = (
  version: Loose,
  params: Loose,
  answer: Loose = reply,
  sampling: Loose = { tools: {}, context: {} },
): ReturnType<typeof callIn> =>
  callIn(
    version,
    serverOf(async (ctx) => {
      try {
        return JSON.stringify(await ctx.sample(params));
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        if (code === 'ERR_SUSPENDED' || code === 'ERR_CLIENT_CAPABILITY') throw error;
        return `${code} ${message}`;
      }
    }),
    () => answer,
    { sampling },
  );
const refused = async (params: Loose, reason: RegExp): Promise<void> => {
  for (const version of NEW) {
    const { asked, text: told } = await sample(version, params);
    expect(told).toMatch(/^ERR_INVALID_ASK /);
    expect(told).toMatch(reason);
    expect(asked).toEqual([]);
  }
};

describe.each(ALL)('a question to the model in %s', (version) => {
  it('[SAMP-007] has its messages and maxTokens', async () => {
    const params = {
      messages: [user(text('Capital of France?')), assistant(text('Hm'))],
      maxTokens: 9,
      temperature: 0.5,
      systemPrompt: 'Be brief',
    };
    const { asked, text: told } = await sample(version, params);
    expect(asked).toEqual([{ method: 'sampling/createMessage', params }]);
    expect(JSON.parse(told ?? '')).toEqual(reply);
  });

  it.each([
    ['no messages', { maxTokens: 1 }],
    ['no maxTokens', { messages: [] }],
    ['maxTokens that is no integer', { messages: [], maxTokens: 0.5 }],
    ['a role that does not exist', { messages: [{ role: 'system', content: text('x') }], maxTokens: 1 }],
  ])('[SAMP-007][SAMP-021] is refused with %s', async (_title, params) => {
    const { asked, text: told } = await sample(version, params);
    expect(told).toMatch(/^ERR_INVALID_ASK /);
    expect(asked).toEqual([]);
  });

  it('[SAMP-021] is refused with content that does not exist, and so is an answer with such', async () => {
    const { asked, text: told } = await sample(version, { messages: [user({ type: 'smell', data: 'x' })], maxTokens: 1 });
    expect(told).toMatch(/^ERR_INVALID_ASK /);
    expect(asked).toEqual([]);
    const bad = await sample(version, { messages: [], maxTokens: 1 }, { role: 'assistant', content: { type: 'smell' }, model: 'm' });
    if (version === MODERN) expect(bad.error?.code).toBe(-32602);
    else expect(bad.text).toMatch(/^ERR_INVALID_ANSWER /);
  });
});

describe('tools', () => {
  const params = { messages: [user(text('Weather?'))], maxTokens: 9, tools: [tool], toolChoice: { mode: 'auto' } };

  it.each(NEW)('[SAMP-002] are offered to a client that declares sampling.tools, and to no other, in %s', async (version) => {
    expect((await sample(version, params)).asked[0]?.params).toEqual(params);
    for (const part of [{ tools: [tool] }, { toolChoice: { mode: 'none' } }]) {
      const { asked, error, result: failed } = await sample(version, { messages: [], maxTokens: 1, ...part }, reply, {});
      expect(asked).toEqual([]);
      if (version === MODERN) expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: { tools: {} } } } });
      else expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('sampling.tools') }] });
    }
  });

  it.each(OLD)('are refused in %s, which has none', async (version) => {
    const { asked, text: told } = await sample(version, params);
    expect(told).toMatch(/^ERR_NOT_REPRESENTABLE /);
    expect(asked).toEqual([]);
  });

  it('[SAMP-011] are used by a model that was allowed to', async () => {
    const answer = { role: 'assistant', content: [use('1'), use('2')], model: 'm', stopReason: 'toolUse' };
    const ask = { messages: [user(text('Weather?'))], maxTokens: 9 };
    for (const version of NEW) {
      expect(JSON.parse((await sample(version, { ...ask, tools: [tool] }, answer)).text ?? '')).toEqual(answer);
      expect((await sample(version, { ...ask, tools: [tool], toolChoice: { mode: 'none' } }, answer)).text).toMatch(/^ERR_INVALID_ANSWER /);
      expect((await sample(version, { ...ask, tools: [tool], toolChoice: { mode: 'required' } })).text).toMatch(/^ERR_INVALID_ANSWER /);
      expect((await sample(version, ask, answer)).text).toMatch(/^ERR_INVALID_ANSWER /);
    }
  });
});

describe('results of tools in a conversation', () => {
  const ask = (...messages: Loose[]): Loose => ({ messages, maxTokens: 9, tools: [tool] });

  it('[SAMP-008] stand in a message of their own', () =>
    refused(ask(user(text('q')), assistant(use('1')), user([text('here'), result('1')])), /messages\[2\] mixes/));

  it('[SAMP-009] follow their use at once, each of them, before any other message', async () => {
    await refused(ask(assistant([use('1'), use('2')]), user(result('1'))), /messages\[1\] must answer the tool use "2"/);
    await refused(ask(assistant(use('1')), assistant(text('x'))), /messages\[1\] must answer the tool use "1"/);
    await refused(ask(assistant(use('1')), user(text('x')), user(result('1'))), /messages\[1\] must answer/);
    await refused(ask(user(text('q')), assistant(use('1'))), /ends with a tool_use \(1\)/);
  });

  it('[SAMP-010] answer a use that is there', async () => {
    await refused(ask(user(result('1'))), /answers the tool use "1", which the message before it does not have/);
    await refused(ask(assistant(use('1')), user([result('1'), result('2')])), /answers the tool use "2"/);
  });

  it('come from the user, and uses from the model', async () => {
    await refused(ask(assistant(use('1')), assistant(result('1'))), /only a user message/);
    await refused(ask(user(use('1')), user(result('1'))), /only an assistant message/);
  });

  it('that keep all rules are sent as they are', async () => {
    const params = ask(
      user(text('q')),
      assistant([text('let me see'), use('1'), use('2')]),
      user([result('2'), result('1')]),
      assistant(use('3')),
      user(result('3')),
    );
    for (const version of NEW) expect((await sample(version, params)).asked[0]?.params).toEqual(params);
  });

  it("[SAMP-020] have the structuredContent that their tool's outputSchema says", async () => {
    const outputSchema = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] };
    const conversation = (structuredContent: Loose): Loose => ({
      messages: [assistant(use('1')), user(result('1', { structuredContent }))],
      maxTokens: 9,
      tools: [{ ...tool, outputSchema }],
    });
    await refused(conversation({ celsius: 'warm' }), /tool "weather".*celsius/);
    for (const version of NEW) {
      const params = conversation({ celsius: 18 });
      expect((await sample(version, params)).asked[0]?.params).toEqual(params);
    }
  });
});

describe('content', () => {
  const several = { messages: [user([text('a'), text('b')])], maxTokens: 9 };

  it.each(OLD)('[SAMP-005] is one block a message in %s: several become several messages, tool blocks are refused', async (version) => {
    expect((await sample(version, several)).asked[0]?.params.messages).toEqual([user(text('a')), user(text('b'))]);
    const { asked, text: told } = await sample(version, { messages: [assistant(use('1')), user(result('1'))], maxTokens: 9 });
    expect(told).toMatch(/^ERR_NOT_REPRESENTABLE /);
    expect(asked).toEqual([]);
  });

  it.each(NEW)('[SAMP-006] is one block or several, asked and answered, in %s', async (version) => {
    const answer = { ...reply, content: [text('a'), text('b')] };
    const { asked, text: told } = await sample(version, several, answer);
    expect(asked[0]?.params).toEqual(several);
    expect(JSON.parse(told ?? '')).toEqual(answer);
  });
});

describe('includeContext', () => {
  const params = (includeContext: string): Loose => ({ messages: [], maxTokens: 1, includeContext });

  it.each(NEW)('[SAMP-004] is left out for a client that does not declare sampling.context in %s', async (version) => {
    for (const wish of ['thisServer', 'allServers']) {
      expect((await sample(version, params(wish), reply, { tools: {} })).asked[0]?.params).not.toHaveProperty('includeContext');
      expect((await sample(version, params(wish), reply, { context: {} })).asked[0]?.params.includeContext).toBe(wish);
    }
    expect((await sample(version, params('none'), reply, {})).asked[0]?.params.includeContext).toBe('none');
  });

  it.each(OLD)('needs nothing declared in %s', async (version) => {
    expect((await sample(version, params('allServers'), reply, {})).asked[0]?.params.includeContext).toBe('allServers');
  });
});

describe('what was asked and answered', () => {
  it.each(['2025-11-25', MODERN] as const)('[SAMP-022] stands neither in a log nor readably in what travels in %s', async (version) => {
    const logger = new MemoryLogger();
    const server = serverOf(
      async (ctx) => {
        const params = { messages: [user(text('my illness'))], maxTokens: 9 };
        await ctx.sample(params as Loose);
        await ctx.sample({ ...params, maxTokens: 8 } as Loose).catch(() => undefined);
        throw new TypeError('broken');
      },
      { logger },
    );
    const states: string[] = [];
    const { peer } = await callIn(version, server, () => ({ ...reply, content: text('my diagnosis') }));
    for (const { result: asked } of peer.received)
      if (asked?.requestState) states.push(atob(asked.requestState.replaceAll('-', '+').replaceAll('_', '/')));
    expect(logger.lines.length).toBeGreaterThan(0);
    expect(states.length).toBe(version === MODERN ? 2 : 0);
    for (const told of [JSON.stringify(logger.lines), ...states]) expect(told).not.toMatch(/illness|diagnosis/);
  });
});

describe('a loop with a model that never stops using tools', () => {
  const run = serverOf(async (ctx) => {
    const messages = [user(text('go'))];
    for (let n = 0; ; n++) {
      const { content } = await ctx.sample({ messages, maxTokens: 9, tools: [tool] } as Loose);
      const block = (Array.isArray(content) ? content[0] : content) as Loose;
      messages.push(assistant({ ...block, id: `${n}` }), user(result(`${n}`)));
      // It grows to fifty exchanges: one that grows on costs its square, a thousand times over in this test.
      if (messages.length > 101) messages.splice(1, 2);
    }
  });

  it.each(NEW)('[SAMP-023] comes to an end in %s', async (version) => {
    const answer = { role: 'assistant', content: use('x'), model: 'm', stopReason: 'toolUse' };
    const { asked, result: outcome } = await callIn(version, run, () => answer);
    expect(outcome.isError).toBe(true);
    expect(asked.length).toBe(version === MODERN ? 10 : 1_000);
    expect(asked.at(-1)?.params.messages).toHaveLength(version === MODERN ? 19 : 101);
  });
});
