/** Completion for a user who types. */

import { REVISIONS } from '@mortise/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { McpClient } from '../src/index.ts';
import { createCompleter, type Completer } from '../src/host.ts';
import { complete, info, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: { close(): unknown }[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(async () => {
  vi.useRealTimers();
  for (const one of open.splice(0).reverse()) await one.close();
});

const ref = { type: 'ref/prompt', name: 'p' } as const;

async function make(
  revision = REVISIONS[0],
  script: Script = {},
): Promise<{ server: ScriptedServer; completing: Completer; client: McpClient }> {
  if (!revision) throw new Error('there are revisions');
  const answering: Script = {
    'completion/complete': ({ params }) =>
      complete(revision, { completion: { values: [`${(params?.['argument'] as { value: string }).value}!`] } }),
    'subscriptions/listen': () => 'silence',
  };
  const server = new ScriptedServer(scriptOf(revision, { ...answering, ...script }));
  const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version });
  const completing = createCompleter(client, ref);
  open.push(client, completing);
  return { server, completing, client };
}

/** Types something and pauses. */
async function type(completing: Completer, value: string): Promise<readonly string[] | undefined> {
  const suggested = completing.complete({ name: 'a', value });
  vi.advanceTimersByTime(150);
  return (await suggested)?.values;
}

describe.each(REVISIONS)('in $version', (revision) => {
  it('[COMP-007] asks once for what was typed without a pause, and drops what was overtaken', async () => {
    const { server, completing } = await make(revision);
    const typed = ['p', 'py', 'pyt'].map((value) => completing.complete({ name: 'a', value }));
    vi.advanceTimersByTime(149);
    expect(server.requests('completion/complete')).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(await Promise.all(typed)).toEqual([undefined, undefined, { values: ['pyt!'] }]);
    expect(server.requests('completion/complete')).toHaveLength(1);
  });

  it('[COMP-007] keeps answers until the list changes', async () => {
    const { server, completing, client } = await make(revision);
    expect(await type(completing, 'x')).toEqual(['x!']);
    expect(await completing.complete({ name: 'a', value: 'x' })).toEqual({ values: ['x!'] });
    expect(server.requests('completion/complete')).toHaveLength(1);
    await server.notify('notifications/prompts/list_changed');
    await client.ping();
    expect(await type(completing, 'x')).toEqual(['x!']);
    expect(server.requests('completion/complete')).toHaveLength(2);
  });

  it('[COMP-004] tells apart what was chosen before, and sends it where the revision has it', async () => {
    const { server, completing } = await make(revision);
    for (const resolved of [{ lang: 'de' }, { lang: 'en' }, {}]) {
      const suggested = completing.complete({ name: 'a', value: 'x' }, resolved);
      vi.advanceTimersByTime(150);
      await suggested;
    }
    const contexts = server.requests('completion/complete').map(({ params }) => params?.['context']);
    expect(contexts).toEqual(
      revision.rules.completionContext
        ? [{ arguments: { lang: 'de' } }, { arguments: { lang: 'en' } }, undefined]
        : [undefined, undefined, undefined],
    );
  });
});

it('[COMP-007] cancels the request that was overtaken', async () => {
  const { server, completing } = await make(REVISIONS[0], { 'completion/complete': () => 'silence' });
  const first = completing.complete({ name: 'a', value: 'x' });
  vi.advanceTimersByTime(150);
  const request = await server.nextMethod('completion/complete');
  void completing.complete({ name: 'a', value: 'xy' });
  expect(await first).toBeUndefined();
  expect((await server.nextMethod('notifications/cancelled')).params).toMatchObject({ requestId: request.id });
});

it('[COMP-007] has no suggestions where the server completes nothing', async () => {
  const [newest] = REVISIONS;
  if (!newest) throw new Error('there are revisions');
  const server = new ScriptedServer(scriptOf(newest, {}, { capabilities: { prompts: {} } }));
  const client = await McpClient.connect(server.factory, info);
  const completing = createCompleter(client, ref);
  open.push(client, completing);
  expect(await type(completing, 'x')).toEqual([]);
});

it('passes other failures on', async () => {
  const { completing } = await make(REVISIONS[0], {
    'completion/complete': () => ({ error: { code: -32602, message: 'no such argument' } }),
  });
  await expect(type(completing, 'x')).rejects.toThrow('no such argument');
});

it('keeps a bounded number of answers', async () => {
  const { server, completing } = await make();
  for (let n = 0; n <= 100; n += 1) await type(completing, `value ${n}`);
  expect(server.requests('completion/complete')).toHaveLength(101);
  await type(completing, 'value 100');
  expect(server.requests('completion/complete')).toHaveLength(101);
  await type(completing, 'value 0');
  expect(server.requests('completion/complete')).toHaveLength(102);
});

it('ends with what is under way dropped', async () => {
  const { completing } = await make();
  const timers = vi.getTimerCount();
  const suggested = completing.complete({ name: 'a', value: 'x' });
  expect(vi.getTimerCount()).toBe(timers + 1);
  completing.close();
  // The timer of its subscription, which nobody acknowledged, ends too.
  expect(vi.getTimerCount()).toBe(timers - 1);
  expect(await suggested).toBeUndefined();
});

it('of a resource template listens for changed resources', async () => {
  const { server, client } = await make();
  const completing = createCompleter(client, { type: 'ref/resource', uri: 'a:{b}' });
  open.push(completing);
  await client.ping();
  expect(server.requests('subscriptions/listen').map(({ params }) => params?.['notifications'])).toEqual([
    { promptsListChanged: true },
    { resourcesListChanged: true },
  ]);
});
