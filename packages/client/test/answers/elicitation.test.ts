/** Forms and pages that servers put to the user, in both eras by the same handlers. */

import type { JsonObject, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { NEWEST_LEGACY } from '@mortise/protocol';
import type { ElicitResult } from '@mortise/protocol/model';
import { describe, expect, it } from 'vitest';
import { describeForm, describePage } from '../../src/host.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { legacyScript, type Script, ScriptedServer } from '../scripted-server.ts';
import { connect, eras, startAsking } from './asking.ts';

const form = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  message: 'm',
  requestedSchema: { type: 'object', properties, required: [...required] },
});
const accept = (content: Record<string, unknown>): ElicitResult => ({ action: 'accept', content: content as ElicitResult['content'] });

const questionOf = (id: string): JsonRpcRequest => ({ jsonrpc: '2.0', id, method: 'elicitation/create', params: form({}) });

/** A server that does in a call what a test says. */
function legacyServer(call: NonNullable<Script[string]>): ScriptedServer {
  return new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'tools/call': call }));
}

/** A user who never answers, and the moment that he is asked. */
function createSilentUser(): { readonly elicitation: () => Promise<ElicitResult>; readonly asked: Promise<void> } {
  let tell: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (tell = resolve));
  return { asked, elicitation: () => (tell(), new Promise(() => undefined)) };
}

/** Keeps what a call that fails rejects with. */
function failureOf(call: Promise<unknown>): { outcome: unknown } {
  const tracked: { outcome: unknown } = { outcome: 'waiting' };
  call.catch((error: unknown) => (tracked.outcome = error));
  return tracked;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets a call wait to the last millisecond of the second that is left to it, and end with the next by its time limit. */
async function expectTimeout(call: { readonly outcome: unknown }, clock: FakeClock): Promise<void> {
  clock.advance(999);
  await settled();
  expect(call.outcome).toBe('waiting');
  clock.advance(1);
  await settled();
  expect(call.outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 1000 });
}

describe('the time limit of a call', () => {
  it('stands still while the user answers what a legacy server asks', async () => {
    const clock = new FakeClock();
    const server = legacyServer(async ({ params }) => {
      if (params?.['name'] === 'silent') return 'silence';
      await server.send(questionOf('q'));
      await server.next((message) => 'id' in message && message.id === 'q');
      return { result: { content: [] } };
    });
    const elicitation = (): ElicitResult => {
      clock.advance(3_600_000);
      return accept({});
    };
    const client = await connect(server.factory, { era: 'legacy', clock, elicitation, maxRequestTimeoutMs: 7_200_000 });
    expect(await client.callTool('asks', {}, { timeoutMs: 1000 })).toMatchObject({ content: [] });
    const late = failureOf(client.callTool('silent', {}, { timeoutMs: 1000 }));
    await expectTimeout(late, clock);
  });

  it('goes on once the server has cancelled what it asked, though the user never answers', async () => {
    const clock = new FakeClock();
    const { elicitation, asked } = createSilentUser();
    const server = legacyServer(async ({ params }) => {
      if (params?.['name'] === 'silent') return 'silence';
      await server.send(questionOf('q'));
      await asked;
      await server.notify('notifications/cancelled', { requestId: 'q' });
      return { result: { content: [] } };
    });
    const client = await connect(server.factory, { era: 'legacy', clock, elicitation });
    await client.callTool('asks', {}, { timeoutMs: 1000 });
    const late = failureOf(client.callTool('silent', {}, { timeoutMs: 1000 }));
    await expectTimeout(late, clock);
  });

  it('[TIME-005] goes on after ten minutes of one question that nobody answers', async () => {
    const clock = new FakeClock();
    const { elicitation, asked } = createSilentUser();
    const server = legacyServer(async () => {
      await server.send(questionOf('q'));
      return 'silence' as const;
    });
    const client = await connect(server.factory, { era: 'legacy', clock, elicitation, maxRequestTimeoutMs: 1000 });
    const call = failureOf(client.callTool('asks', {}, { timeoutMs: 1000 }));
    await asked;
    clock.advance(600_000);
    await expectTimeout(call, clock);
  });

  it('[TIME-005] goes on after ten times maxRequestTimeoutMs in all, though the server asks again and again', async () => {
    const clock = new FakeClock();
    let asks = 0;
    const askAgain = (): Promise<void> => server.send(questionOf(`q${(asks += 1)}`));
    const server = legacyServer(async () => {
      // One question is open at any time: the next is there before the last is answered.
      await askAgain();
      await askAgain();
      return 'silence' as const;
    });
    const users: (() => void)[] = [];
    const elicitation = (): Promise<ElicitResult> => new Promise((resolve) => users.push(() => resolve({ action: 'decline' })));
    const limits = { maxRequestTimeoutMs: 600_000, asksPerMinute: Infinity };
    const client = await connect(server.factory, { era: 'legacy', clock, elicitation, ...limits });
    const call = failureOf(client.callTool('asks', {}, { timeoutMs: 500, maxTimeoutMs: 1000 }));
    while (users.length < 2) await settled();
    let passedMs = 0;
    for (; call.outcome === 'waiting' && passedMs < 10_000_000; passedMs += 100_000) {
      expect(users).toHaveLength(2);
      clock.advance(100_000);
      users.shift()?.();
      void askAgain();
      while (users.length < 2) await settled();
    }
    expect(call.outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 1000 });
    expect(passedMs).toBe(10 * 600_000);
  });

  it('begins anew with each round of a modern call, and what the user takes between them is not of it', async () => {
    const clock = new FakeClock();
    const elicitation = (): ElicitResult => {
      clock.advance(3_600_000);
      return accept({});
    };
    const { ask } = await startAsking('modern', { clock, elicitation, requestTimeoutMs: 1000, maxRequestTimeoutMs: 1000 });
    expect(await ask('elicitation/create', form({}))).toEqual({ answer: accept({}), error: undefined });
  });
});

describe.each(eras)('elicitation in the $era era', ({ era }) => {
  it('[ELICIT-006] without a mode is a form', async () => {
    const { ask } = await startAsking(era, { elicitation: { form: () => accept({ a: 'form' }), url: () => accept({ a: 'page' }) } });
    const asked = form({ a: { type: 'string' } });
    expect(asked).not.toHaveProperty('mode');
    expect((await ask('elicitation/create', asked)).answer).toEqual(accept({ a: 'form' }));
  });

  it('[ELICIT-021] names to the handler the server that asks, and sends what the user chose: accept, decline or cancel', async () => {
    const chosen: ElicitResult[] = [accept({ name: 'Ann' }), { action: 'decline' }, { action: 'cancel' }];
    const names: unknown[] = [];
    const user = [...chosen];
    const { ask } = await startAsking(era, {
      elicitation: (_params, { serverInfo }) => (names.push(serverInfo?.name), user.shift() ?? expect.fail('asked once more')),
    });
    const question = form({ name: { type: 'string' } });
    for (const answer of chosen) expect((await ask('elicitation/create', question)).answer).toEqual(answer);
    expect(names).toEqual(['scripted', 'scripted', 'scripted']);
  });

  it('[ELICIT-018] does not send an answer that does not fit the form, and says to the program which field', async () => {
    const errors: Error[] = [];
    const { ask, server } = await startAsking(era, { elicitation: () => accept({ age: 'old' }), onError: (error) => errors.push(error) });
    const { answer, error } = await ask('elicitation/create', form({ age: { type: 'integer' } }));
    expect(answer).toBeUndefined();
    if (era === 'legacy')
      expect(error).toEqual({ code: -32603, message: 'The client could not answer "elicitation/create": its handler failed' });
    const told = era === 'legacy' ? errors[0] : error;
    expect(told).toMatchObject({ name: 'TypeError', message: expect.stringContaining('schema: "age" must be') });
    if (era === 'modern') expect(server.requests('tools/call')).toHaveLength(1);
  });

  it.each([
    {
      what: 'a required field',
      properties: { name: { type: 'string' } },
      required: ['name'],
      content: {},
      says: 'name',
    },
    { what: 'an object', properties: {}, required: [], content: { a: { b: 1 } }, says: 'result.content["a"] must be' },
    { what: 'no number', properties: {}, required: [], content: { a: Number.NaN }, says: '"a" must be a finite number' },
  ])('[ELICIT-017] does not send $what that no form can have or lack', async ({ properties, required, content, says }) => {
    const errors: Error[] = [];
    const { ask } = await startAsking(era, { elicitation: () => accept(content), onError: (error) => errors.push(error) });
    const { answer, error } = await ask('elicitation/create', form(properties, required));
    expect(answer).toBeUndefined();
    expect((era === 'legacy' ? errors[0] : (error as Error))?.message).toContain(says);
  });

  it('[ELICIT-010] fills a required field that was left out with its default, and describes a form with the defaults of all fields', async () => {
    const properties = { who: { type: 'string', default: 'Ada' }, age: { type: 'integer', default: 36 } };
    const plain = await startAsking(era, { elicitation: () => accept({}) });
    expect((await plain.ask('elicitation/create', form(properties, ['who']))).answer).toEqual(accept({ who: 'Ada' }));
    const filling = await startAsking(era, { elicitation: ({ requestedSchema }) => accept(describeForm(requestedSchema).defaults) });
    expect((await filling.ask('elicitation/create', form(properties))).answer).toEqual(accept({ who: 'Ada', age: 36 }));
  });

  it('[ELICIT-003] declares the modes that have a handler, one at least', async () => {
    const seen = new Set<string>();
    for (const handlers of [{ form: () => accept({}) }, { url: () => accept({}) }]) {
      const { server, ask } = await startAsking(era, { elicitation: handlers });
      await ask('elicitation/create', { ...form({}), mode: Object.keys(handlers)[0], url: 'https://pages.example/a' });
      seen.add(
        JSON.stringify(
          server.received
            .map((message) => JSON.stringify(message))
            .join('')
            .match(/"elicitation":(\{[^}]*\}+?)/u)?.[1],
        ),
      );
    }
    expect([...seen].join(' ')).toMatch(/form.*url/u);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'ftp://pages.example',
    'https://u:p@pages.example',
    'http://pages.example',
    'https://169.254.169.254/',
    'https://0x7f.1/',
    'no url',
  ])('[ELICIT-028] refuses the page %s before any handler sees it', async (url) => {
    let shown = 0;
    const { ask, server } = await startAsking(era, {
      elicitation: {
        url: () => {
          shown += 1;
          return accept({});
        },
      },
    });
    const { error } = await ask('elicitation/create', { mode: 'url', message: 'm', url, elicitationId: 'e' });
    expect(error).toMatchObject(era === 'legacy' ? { code: -32602 } : { code: 'ERR_INPUT_REQUIRED' });
    expect(shown).toBe(0);
    if (era === 'modern') expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('[ELICIT-029][ELICIT-030] gives the handler the whole address in ASCII, of which a host shows host, domain and what is odd', async () => {
    let seen: unknown;
    let shown: string | undefined;
    const { ask } = await startAsking(era, {
      elicitation: {
        url: ({ url }) => {
          seen = describePage(url);
          shown = url;
          return { action: 'decline' };
        },
      },
    });
    await ask('elicitation/create', {
      mode: 'url',
      message: 'm',
      url: 'https://login.b\u0430nk.example/\u202egnp.exe',
      elicitationId: 'e',
    });
    expect(seen).toEqual({
      url: 'https://login.xn--bnk-6cd.example/%E2%80%AEgnp.exe',
      host: 'login.xn--bnk-6cd.example',
      domain: 'xn--bnk-6cd.example',
      warnings: ['punycode'],
    });
    expect(shown).toBe('https://login.xn--bnk-6cd.example/%E2%80%AEgnp.exe');
  });

  it('[ELICIT-016][ELICIT-031] takes accept for consent: the answer has no content, and nothing is fetched or opened', async () => {
    const fetched: unknown[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = ((...args: unknown[]) => {
      fetched.push(args);
      return Promise.reject(new Error('no'));
    }) as typeof globalThis.fetch;
    try {
      const { ask } = await startAsking(era, { elicitation: { url: () => accept({ a: 1 }) } });
      const { answer } = await ask('elicitation/create', { mode: 'url', message: 'm', url: 'https://pages.example/a', elicitationId: 'e' });
      expect(answer).toEqual({ action: 'accept' });
      expect(fetched).toEqual([]);
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('[ELICIT-022] refuses more forms than the user can be asked for, until time has passed', async () => {
    const clock = new FakeClock();
    let shown = 0;
    const { ask } = await startAsking(era, {
      clock,
      asksPerMinute: 2,
      elicitation: () => {
        shown += 1;
        return { action: 'cancel' };
      },
    });
    await ask('elicitation/create', form({}));
    await ask('elicitation/create', form({}));
    const { error } = await ask('elicitation/create', form({}));
    if (era === 'legacy') expect(error).toMatchObject({ code: -32000, data: { retryAfterMs: 60_000 } });
    else expect(error).toMatchObject({ code: 'ERR_INPUT_REQUIRED' });
    expect(shown).toBe(2);
    clock.advance(60_000);
    expect((await ask('elicitation/create', form({}))).answer).toEqual({ action: 'cancel' });
  });

  it('is refused where the form cannot be drawn', async () => {
    const { ask } = await startAsking(era, { elicitation: () => accept({}) });
    for (const requestedSchema of [
      'x',
      { type: 'object', properties: { a: { type: 'object' } } },
      { properties: { a: { enum: [1], type: 'string' } } },
    ]) {
      const { error } = await ask('elicitation/create', { message: 'm', requestedSchema });
      expect(error).toMatchObject(era === 'legacy' ? { code: -32602 } : { code: 'ERR_INPUT_REQUIRED' });
    }
  });

  it('fails where the handler gives no action', async () => {
    const errors: Error[] = [];
    const { ask } = await startAsking(era, { elicitation: (() => ({ content: {} })) as never, onError: (error) => errors.push(error) });
    const { error } = await ask('elicitation/create', form({}));
    expect(era === 'legacy' ? errors[0] : error).toMatchObject({
      name: 'TypeError',
      message: expect.stringContaining('the handler of "elicitation/create"'),
    });
  });
});

it('a page of this machine may be shown for a server that runs on it, and for others if the program says so', async () => {
  const ask = async (options: Parameters<typeof startAsking>[1], eraKey?: string): Promise<unknown> => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    await connect(eraKey === undefined ? server.factory : Object.assign(server.factory, { eraKey }), { era: 'legacy', ...options });
    await server.send({
      jsonrpc: '2.0',
      id: 'q',
      method: 'elicitation/create',
      params: { mode: 'url', message: 'm', url: 'http://127.0.0.1:9/a', elicitationId: 'e' },
    });
    return server.next((message) => 'id' in message && message.id === 'q');
  };
  const url = (): ElicitResult => accept({});
  expect(await ask({ elicitation: { url } })).toMatchObject({ error: { code: -32602 } });
  expect(await ask({ elicitation: { url } }, 'https://far.example/mcp')).toMatchObject({ error: { code: -32602 } });
  expect(await ask({ elicitation: { url } }, 'node server.js')).toMatchObject({ result: { action: 'accept' } });
  expect(await ask({ elicitation: { url } }, 'http://localhost:3000/mcp')).toMatchObject({ result: { action: 'accept' } });
  expect(await ask({ elicitation: { url, urlPolicy: { allowLoopback: true } } })).toMatchObject({ result: { action: 'accept' } });
});

describe('a page', () => {
  const page = { mode: 'url', message: 'm', url: 'https://pages.example/a' };

  it('[ELICIT-033] is finished with once, and a server that says so of a page that was not asked for is ignored', async () => {
    let completed: Promise<void> | undefined;
    const { ask, server, client } = await startAsking('legacy', {
      elicitation: {
        url: (_params, context) => {
          ({ completed } = context);
          return accept({});
        },
      },
    });
    const told: string[] = [];
    client.onElicitationComplete(({ elicitationId }) => told.push(elicitationId));
    await ask('elicitation/create', { ...page, elicitationId: 'e1' });
    for (const elicitationId of ['unknown', 'e1', 'e1', 5]) await server.notify('notifications/elicitation/complete', { elicitationId });
    await completed;
    await ask('ping');
    expect(told).toEqual(['e1']);
  });

  it('[ELICIT-034] that a call needs first is in its error, and the call can be made again with or without word of its completion', async () => {
    const elicitations = [
      { ...page, elicitationId: 'a' },
      { ...page, url: 'https://169.254.169.254/', elicitationId: 'unsafe' },
      { ...page, elicitationId: 'b' },
    ];
    const required = { error: { code: -32042, message: 'open it', data: { elicitations } } };
    const left = [required, required];
    const server = legacyServer(() => (left.shift() ?? { result: { content: [] } }) as never);
    const client = await connect(server.factory, { era: 'legacy' });
    const safe = [{ elicitationId: 'a' }, { elicitationId: 'b' }];
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_INPUT_REQUIRED', elicitations: safe });
    const completed = new Promise((resolve) => client.onElicitationComplete(({ elicitationId }) => resolve(elicitationId)));
    await server.notify('notifications/elicitation/complete', { elicitationId: 'a' });
    expect(await completed).toBe('a');
    await expect(client.callTool('x')).rejects.toMatchObject({ elicitations: safe });
    await expect(client.callTool('x')).resolves.toEqual({ content: [] });
  });

  it('that an error does not name leaves the error as it is', async () => {
    const server = legacyServer(() => ({ error: { code: -32042, message: 'open it' } }));
    const client = await connect(server.factory, { era: 'legacy' });
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_REMOTE', rpcCode: -32042 });
  });
});
