/** `ctx.elicit` in every revision: forms as each has them, pages where there are any, and what is never asked. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { HandlerContext } from '@mortise/server';
import { UrlElicitationRequiredError } from '@mortise/server';
import { ALL, type Loose, MODERN, RawPeer } from '../raw-peer.ts';
import { answerTo, askName, callIn, callThrough, everything, form, obliging, openPeer, serverOf } from './chain.ts';

const WITH_FORMS = ['2025-06-18', '2025-11-25', MODERN] as const;
const WITH_PAGES = ['2025-11-25', MODERN] as const;

/** Tells the outcome of a question: its action and content, or the error's code. */
const told = (run: (ctx: HandlerContext) => Promise<unknown>) => async (ctx: HandlerContext) => {
  try {
    return JSON.stringify(await run(ctx));
  } catch (error) {
    if ((error as { code: string }).code === 'ERR_SUSPENDED' || (error as { code: string }).code === 'ERR_CLIENT_CAPABILITY') throw error;
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
};

const page = { mode: 'url', message: 'Connect your account', url: 'https://a.example/connect' } as const;

describe.each(WITH_FORMS)('a form in %s', (version) => {
  const ask = (requestedSchema: Loose, answer?: Loose): ReturnType<typeof callIn> =>
    callIn(version, serverOf(told((ctx) => ctx.elicit({ message: 'm', requestedSchema }))), () => answer ?? { action: 'decline' });
  const fieldsOf = async (requestedSchema: Loose): Promise<Loose> => {
    const { asked, text } = await ask(requestedSchema);
    expect(text).toBe('{"action":"decline"}');
    return asked[0]?.params.requestedSchema.properties;
  };

  it('[ELICIT-005][ELICIT-006] has a message, an object with properties, and its mode where modes exist', async () => {
    const { asked } = await ask({ name: z.string() });
    expect(asked[0]?.params).toEqual({
      ...(version === '2025-06-18' ? {} : { mode: 'form' }),
      message: 'm',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
  });

  it('[ELICIT-007] is flat: what nests is refused before anything is sent', async () => {
    for (const field of [
      z.object({ a: z.string() }),
      z.array(z.string()),
      z.array(z.object({ a: z.string() })),
      z.union([z.string(), z.number()]),
    ]) {
      const { asked, text } = await ask({ deep: field });
      expect(text).toMatch(/^ERR_SCHEMA_UNSUPPORTED .*"deep"/);
      expect(asked).toEqual([]);
    }
  });

  it('[ELICIT-008] has no other constraints than the wire knows, and those that it lacks hold for the answer', async () => {
    const requestedSchema = {
      mail: z.email(),
      code: z.string().min(2).max(4).regex(/^a/),
      count: z.int().positive().max(9),
      any: z.int(),
      share: z.number().gt(0).multipleOf(0.5),
    };
    const fields = await fieldsOf(requestedSchema);
    expect(fields).toEqual({
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', minLength: 2, maxLength: 4 },
      count: { type: 'integer', maximum: 9 },
      any: { type: 'integer' },
      share: { type: 'number' },
    });
    const content = { mail: 'a@b.example', code: 'ab', count: 1, any: -5, share: 0.5 };
    expect((await ask(requestedSchema, { action: 'accept', content })).text).toBe(JSON.stringify({ action: 'accept', content }));
    for (const wrong of [{ code: 'ba' }, { count: 0 }, { share: 0.7 }])
      expect((await ask(requestedSchema, { action: 'accept', content: { ...content, ...wrong } })).text).toMatch(
        /^ERR_INVALID_ANSWER The form/,
      );
  });

  it('never has a pattern, also one of a plain JSON Schema', async () => {
    const fields = await fieldsOf({ type: 'object', properties: { code: { type: 'string', pattern: '^a+$', examples: ['a'] } } });
    expect(fields).toEqual({ code: { type: 'string' } });
  });

  it('[ELICIT-009] has defaults for all kinds of fields, in 2025-06-18 for booleans alone', async () => {
    const fields = await fieldsOf({ sure: z.boolean().default(true), name: z.string().default('Ann'), age: z.int().default(7) });
    expect(fields.sure).toEqual({ type: 'boolean', default: true });
    expect(fields.name.default).toBe(version === '2025-06-18' ? undefined : 'Ann');
    expect(fields.age.default).toBe(version === '2025-06-18' ? undefined : 7);
  });

  it('has its defaults filled in, of any schema, where the client left a field out', async () => {
    const shapes = [
      { name: z.string().default('Ann'), age: z.number().optional() },
      { type: 'object', properties: { name: { type: 'string', default: 'Ann' }, age: { type: 'number' } } },
    ];
    for (const shape of shapes)
      expect((await ask(shape, { action: 'accept', content: {} })).text).toBe('{"action":"accept","content":{"name":"Ann"}}');
  });

  it('[ELICIT-011][ELICIT-012] has one choice as an enum, and titles in the words of its revision', async () => {
    const requestedSchema = {
      type: 'object',
      properties: {
        plain: { type: 'string', enum: ['a', 'b'] },
        titled: {
          type: 'string',
          oneOf: [
            { const: 'a', title: 'Alpha' },
            { const: 'b', title: 'Beta' },
          ],
        },
      },
    };
    const { plain, titled } = await fieldsOf(requestedSchema);
    expect(plain).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(titled).toEqual(
      version === '2025-06-18' ? { type: 'string', enum: ['a', 'b'], enumNames: ['Alpha', 'Beta'] } : requestedSchema.properties.titled,
    );
    expect(await fieldsOf({ plain: z.enum(['a', 'b']), one: z.literal('x') })).toEqual({
      plain: { type: 'string', enum: ['a', 'b'] },
      one: { type: 'string', enum: ['x'] },
    });
  });

  it('[ELICIT-013] has several choices as an array, and in 2025-06-18 none', async () => {
    const properties = {
      plain: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b'] } },
      titled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'Alpha' }] } },
    };
    const answer = { action: 'accept', content: { plain: ['a'], titled: ['a'] } };
    const { asked, text } = await ask({ type: 'object', properties }, answer);
    if (version === '2025-06-18') {
      expect(text).toMatch(/^ERR_NOT_REPRESENTABLE .*"plain"/);
      expect(asked).toEqual([]);
      return;
    }
    expect(asked[0]?.params.requestedSchema.properties).toEqual(properties);
    expect(text).toBe(JSON.stringify(answer));
  });

  it('[ELICIT-018] is checked when the answer comes', async () => {
    const wrong = [{ name: 5 }, {}, { name: 'x'.repeat(9) }];
    for (const content of wrong)
      expect((await ask({ name: z.string().max(8) }, { action: 'accept', content })).text).toMatch(
        /^ERR_INVALID_ANSWER The form: field "name"/,
      );
    expect((await ask({ name: z.string() }, { action: 'accept' })).text).toMatch(/^ERR_INVALID_ANSWER/);
  });

  it.each(['password', 'apiKey', 'API key', 'access_token', 'creditCard', 'card-number', 'cvv', 'clientSecret', 'dbPassword'])(
    '[ELICIT-019][ELICIT-020] never asks for a secret: %s',
    async (name) => {
      const byName = await ask({ type: 'object', properties: { [name]: { type: 'string' } } });
      const byTitle = await ask({ type: 'object', properties: { x: { type: 'string', title: `Your ${name}` } } });
      for (const { asked, text } of [byName, byTitle]) {
        expect(text).toMatch(/^ERR_INVALID_ASK .*secret/);
        expect(asked).toEqual([]);
      }
    },
  );

  it.each(['tokens', 'keyword', 'secretary', 'pinCode', 'passwordless', 'cardinality', 'name', 'author'])(
    'may ask for %s',
    async (name) => {
      expect(await fieldsOf({ type: 'object', properties: { [name]: { type: 'string' } } })).toEqual({ [name]: { type: 'string' } });
    },
  );

  it('[ELICIT-044] tells acceptance, refusal and dismissal apart, and gives content with the first alone', async () => {
    for (const action of ['accept', 'decline', 'cancel']) {
      const { text } = await ask({ name: z.string() }, { action, content: { name: 'Ann' } });
      expect(JSON.parse(text ?? '')).toEqual(action === 'accept' ? { action, content: { name: 'Ann' } } : { action });
    }
  });

  it('needs a message', async () => {
    const { asked, text } = await callIn(version, serverOf(told((ctx) => ctx.elicit({ ...form(''), message: '' }))));
    expect(text).toMatch(/^ERR_INVALID_ASK .*message/);
    expect(asked).toEqual([]);
  });

  it('needs more than its message', async () => {
    const { asked, text } = await callIn(version, serverOf(told((ctx) => ctx.elicit('Sure?' as Loose))));
    expect(text).toBe('ERR_INVALID_ASK ctx.elicit({ message, requestedSchema }) needs an object, got a string');
    expect(asked).toEqual([]);
  });
});

describe('modes that the client did not declare', () => {
  const ask = (params: Loose) => serverOf((ctx) => ctx.elicit(params).then(({ action }) => action));
  const cases: [string, Loose, Loose, string | undefined][] = [
    ['elicitation: {} has forms', {}, form('m'), undefined],
    ['elicitation: {} has no pages', {}, page, 'elicitation.url'],
    ['elicitation: { form } has no pages', { form: {} }, page, 'elicitation.url'],
    ['elicitation: { url } has no forms', { url: {} }, form('m'), 'elicitation.form'],
    ['elicitation: { url } has pages', { url: {} }, page, undefined],
  ];
  it.each(WITH_PAGES.flatMap((version) => cases.map((each) => [version, ...each] as const)))(
    '[ELICIT-002][ELICIT-004] are not sent in %s: %s',
    async (version, _title, elicitation, params, missing) => {
      const { asked, text, error, result } = await callIn(version, ask(params), () => ({ action: 'cancel' }), { elicitation });
      if (missing === undefined) {
        expect(text).toBe('cancel');
        expect(asked).toHaveLength(1);
        return;
      }
      expect(asked).toEqual([]);
      if (version === MODERN) expect(error?.code).toBe(-32021);
      else expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(missing) }] });
    },
  );

  it.each(['2024-11-05', '2025-03-26'] as const)('are all there are in %s', async (version) => {
    const { asked, text } = await callIn(version, serverOf(told((ctx) => ctx.elicit(form('m')))));
    expect(text).toMatch(/^ERR_ASK_UNAVAILABLE/);
    expect(asked).toEqual([]);
  });
});

describe('a page', () => {
  it.each(WITH_PAGES)('[ELICIT-024] is asked for with its mode, message and address in %s', async (version) => {
    const { asked } = await callIn(version, serverOf(told((ctx) => ctx.elicit(page))));
    expect(asked[0]?.params).toMatchObject(page);
  });

  it('[ELICIT-025] has an id of its own in 2025-11-25, made up where the author gives none', async () => {
    const run = async (ctx: HandlerContext): Promise<string> => {
      await ctx.elicit(page);
      await ctx.elicit(page);
      await ctx.elicit({ ...page, elicitationId: 'mine' });
      return 'done';
    };
    const { asked } = await callIn('2025-11-25', serverOf(run));
    const ids = asked.map(({ params }) => params.elicitationId);
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^[\da-f-]{36}$/);
    expect(ids[2]).toBe('mine');
  });

  it('[ELICIT-035] has no id in 2026-07-28, and nothing tells that it is done', async () => {
    const server = serverOf(async (ctx) => {
      const elicitationId = crypto.randomUUID();
      await ctx.elicit({ ...page, elicitationId });
      await ctx.completeElicitation(elicitationId);
      return 'done';
    });
    const { asked, text, peer } = await callIn(MODERN, server);
    expect(text).toBe('done');
    expect(asked[0]?.params).toEqual(page);
    expect(peer.notifications()).toEqual([]);
  });

  it.each(['2025-06-18', '2025-03-26'] as const)('is refused in %s, which has none', async (version) => {
    const { asked, text } = await callIn(version, serverOf(told((ctx) => ctx.elicit(page))));
    expect(text).toMatch(/^ERR_(NOT_REPRESENTABLE|ASK_UNAVAILABLE)/);
    expect(asked).toEqual([]);
  });

  it.each([
    'http://a.example/connect',
    'https://user:pass@a.example/',
    'https://a.example/?access_token=x',
    'https://a.example/#id_token=x',
    'https://a.example/?API_KEY=x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'a.example',
    '',
  ])('[ELICIT-026][ELICIT-027] has an address that is safe to hand on, not %s', async (url) => {
    for (const version of WITH_PAGES) {
      const { asked, text } = await callIn(version, serverOf(told((ctx) => ctx.elicit({ ...page, url }))));
      expect(text).toMatch(/^ERR_INVALID_ASK The URL of an elicitation must be safe/);
      expect(asked).toEqual([]);
    }
  });

  it('may lie on this machine without https, for development', async () => {
    const { asked } = await callIn(MODERN, serverOf(told((ctx) => ctx.elicit({ ...page, url: 'http://127.0.0.1:3000/x' }))));
    expect(asked).toHaveLength(1);
  });

  it.each(WITH_PAGES)('[ELICIT-031] is agreed to, not done with, when the answer is accept in %s', async (version) => {
    const { text } = await callIn(version, serverOf(told((ctx) => ctx.elicit(page))), () => ({
      action: 'accept',
      content: { forged: 'x' },
    }));
    expect(text).toBe('{"action":"accept"}');
  });
});

describe('completeElicitation', () => {
  it('[ELICIT-032] tells the client that was asked, by the id that it was asked with, and no other client', async () => {
    let complete: (() => Promise<void>) | undefined;
    const server = serverOf(async (ctx) => {
      await ctx.elicit({ ...page, elicitationId: 'e1' });
      complete = () => ctx.completeElicitation('e1');
      return 'opened';
    });
    const bystander = await RawPeer.open(server, '2025-11-25', { capabilities: everything });
    const { peer } = await callIn('2025-11-25', server);
    await complete?.();
    expect((await peer.nextNotification('notifications/elicitation/complete')).params).toEqual({ elicitationId: 'e1' });
    await bystander.settle();
    expect(bystander.notifications()).toEqual([]);
  });

  it('may be called while the call runs, and is then sent within it', async () => {
    const server = serverOf(async (ctx) => {
      await ctx.completeElicitation('e1');
      return 'done';
    });
    const { peer } = await callIn('2025-11-25', server);
    expect(peer.received.map(({ method, result }) => method ?? Object.keys(result)[0])).toEqual([
      'protocolVersion',
      'notifications/elicitation/complete',
      'content',
    ]);
  });

  it.each(['2024-11-05', '2025-06-18', MODERN] as const)('sends nothing in %s', async (version) => {
    const { peer, text } = await callIn(
      version,
      serverOf(async (ctx) => (await ctx.completeElicitation('e1'), 'done')),
    );
    expect(text).toBe('done');
    expect(peer.notifications()).toEqual([]);
  });
});

describe('UrlElicitationRequiredError', () => {
  const { url, message } = page;
  const needing = (): { server: ReturnType<typeof serverOf>; finish: () => void } => {
    let isDone = false;
    const server = serverOf(() => {
      if (isDone) return 'connected';
      throw new UrlElicitationRequiredError([{ url, message }]);
    });
    return { server, finish: () => void (isDone = true) };
  };

  it('[ELICIT-036] is -32042 with the pages and their ids in 2025-11-25', async () => {
    const { server, finish } = needing();
    const { error, asked, peer } = await callIn('2025-11-25', server);
    expect(error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', url, message, elicitationId: expect.any(String) }] },
    });
    expect(asked).toEqual([]);
    finish();
    expect((await peer.callTool('run')).content[0].text).toBe('connected');
  });

  it('[ELICIT-036] is not sent to a client that cannot open pages', async () => {
    const { result, text } = await callIn('2025-11-25', needing().server, undefined, { elicitation: {} });
    expect(result.isError).toBe(true);
    expect(text).toContain('elicitation.url');
    expect(text).not.toContain(url);
  });

  it('[ELICIT-037] asks for the pages in 2026-07-28, and runs the handler again', async () => {
    const { server, finish } = needing();
    const { asked, text } = await callIn(MODERN, server, () => (finish(), { action: 'accept' }));
    expect(asked).toEqual([{ method: 'elicitation/create', params: { mode: 'url', url, message } }]);
    expect(text).toBe('connected');
  });

  it('asks again while the page is not done, up to the bound of rounds', async () => {
    const { asked, result, text } = await callIn(MODERN, needing().server);
    expect(asked).toHaveLength(10);
    expect(result.isError).toBe(true);
    expect(text).toContain('maxRounds');
  });

  it('ends when the user refuses in 2026-07-28', async () => {
    const { asked, error } = await callIn(MODERN, needing().server, () => ({ action: 'decline' }));
    expect(asked).toHaveLength(1);
    expect(error?.message).toContain('did not open');
  });

  it('needs pages of the client in 2026-07-28', async () => {
    const { error } = await callIn(MODERN, needing().server, undefined, { elicitation: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } });
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18'] as const)('is an error without the address in %s', async (version) => {
    const { result } = await callIn(version, needing().server);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('open a URL') }] });
    expect(JSON.stringify(result)).not.toContain(url);
  });
});

describe('who is asked', () => {
  it('[ELICIT-038][ELICIT-041] is the principal, over any connection, and no other', async () => {
    const server = serverOf((ctx) => askName(ctx, 'a'));
    const ann = { info: { principal: 'ann' } };
    const { result } = await (await openPeer(server, ann)).request('tools/call', { name: 'run' });
    const retry = { name: 'run', ...answerTo(result) };
    expect((await (await openPeer(server, { info: { principal: 'bob' } })).request('tools/call', retry)).error?.code).toBe(-32602);
    expect((await (await openPeer(server, ann)).request('tools/call', retry)).result.content[0].text).toBe('a');
  });

  it.each(ALL)('[ELICIT-040] is never what the client says of itself in %s', async (version) => {
    const server = serverOf((ctx) => ctx.principal);
    const peer = await RawPeer.open(server, version, {
      info: { principal: 'ann' },
      clientInfo: { name: 'bob', version: '1', principal: 'bob' },
    });
    const params = { name: 'run', _meta: { principal: 'bob', sub: 'bob' }, principal: 'bob' };
    expect((await peer.call('tools/call', params)).content[0].text).toBe('ann');
  });
});

it('a question is asked in the same words in each round, whatever order its author wrote it in', async () => {
  let runs = 0;
  const server = serverOf(async (ctx) => {
    const properties = runs++ % 2 ? { a: { type: 'string' }, b: { type: 'number' } } : { b: { type: 'number' }, a: { type: 'string' } };
    const { action } = await ctx.elicit({ message: 'm', requestedSchema: { type: 'object', properties } });
    return action;
  });
  const { asked, text } = await callThrough(await openPeer(server), { name: 'run' }, obliging);
  expect(asked).toHaveLength(1);
  expect(text).toBe('accept');
});
