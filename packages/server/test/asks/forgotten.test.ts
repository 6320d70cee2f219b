/** What a handler leaves behind when it returns. */

import { expect, it } from 'vitest';
import type { MortiseError } from '@mortise/jsonrpc-core';
import type { HandlerContext } from '../../src/index.ts';
import { Server } from '../../src/low-level.ts';
import { ALL, MODERN, RawPeer } from '../raw-peer.ts';
import { defer, MemoryLogger } from '../support.ts';
import { callIn, form, serverOf } from './chain.ts';

const questions: [string, (ctx: HandlerContext) => Promise<unknown>][] = [
  ['elicit', (ctx) => ctx.elicit(form('Who?'))],
  ['sample', (ctx) => ctx.sample({ messages: [], maxTokens: 5 })],
  ['listRoots', (ctx) => ctx.listRoots()],
];

it.each(
  (['2025-06-18', '2025-11-25', MODERN] as const).flatMap((version) => questions.map(([name, ask]) => [name, version, ask] as const)),
)('a question by ctx.%s that is not awaited is told of once, by the tool in %s', async (_name, version, ask) => {
  const logger = new MemoryLogger();
  const server = serverOf(
    (ctx) => {
      void ask(ctx);
      return 'done';
    },
    { logger },
  );
  for (let call = 0; call < 2; call++) expect((await callIn(version, server)).text).toBe('done');
  const warnings = logger.lines.filter(({ level }) => level === 'warning').map(({ message }) => message);
  expect(warnings).toEqual([
    expect.stringMatching(/^tool "run" ended before its question to the client was answered: await every ctx\.elicit/),
  ]);
});

it.each(ALL)('a context that is used after the answer sends nothing and asks nobody in %s', async (version) => {
  const answered = defer();
  const used = defer<unknown>();
  const server = serverOf(
    (ctx) => {
      void answered.promise.then(async () => {
        await ctx.progress(1);
        await ctx.log.info('late');
        await ctx.elicit(form('late')).catch((error: MortiseError) => used.resolve(error.code));
      });
      return 'done';
    },
    { capabilities: { logging: {} } },
  );
  const { peer, asked } = await callIn(version, server);
  answered.resolve();
  expect(await used.promise).toBe('ERR_SUSPENDED');
  await peer.settle();
  expect(peer.notifications()).toEqual([]);
  expect(asked).toEqual([]);
});

it.each(['2025-11-25', MODERN] as const)('nothing is told of questions that are awaited in %s', async (version) => {
  const logger = new MemoryLogger();
  const server = serverOf((ctx) => Promise.all([ctx.elicit(form('a')), ctx.elicit(form('b')), ctx.listRoots()]), {
    logger,
  });
  await callIn(version, server);
  expect(logger.lines).toEqual([]);
});

it('questions that are asked together are given up when one of them fails the call', async () => {
  const server = serverOf((ctx) => Promise.all([ctx.elicit(form('a')), ctx.elicit(form('b'))]));
  const peer = await RawPeer.open(server, '2025-11-25', { capabilities: { elicitation: {} } });
  peer.onRequest = ({ params }) => (params.message === 'a' ? { error: { code: -1, message: 'no' } } : undefined);
  expect((await peer.call('tools/call', { name: 'run' })).isError).toBe(true);
  const open = peer.requests().find(({ params }) => params.message === 'b');
  expect(peer.notifications('notifications/cancelled')).toMatchObject([{ params: { requestId: open?.id, reason: 'The call has ended' } }]);
});

it('what a peer calls things by is in no warning of a low-level server, so that it is told of once', async () => {
  const logger = new MemoryLogger();
  const server = new Server({ name: 's', version: '1' }, { logger, capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', (_request, ctx) => {
    void ctx.elicit(form('Who?'));
    return { content: [] };
  });
  const peer = await RawPeer.open(server, '2025-11-25', { capabilities: { elicitation: {} } });
  peer.onRequest = () => undefined;
  for (let call = 0; call < 3; call++) await peer.request('tools/call', { name: `${call}\n${'x'.repeat(5000)}` });
  const warnings = logger.lines.filter(({ level }) => level === 'warning').map(({ message }) => message);
  expect(warnings).toEqual([expect.stringMatching(/^tools\/call ended before its question to the client was answered/)]);
});

it('a server tells a thousand different things once, and remembers no more', () => {
  const logger = new MemoryLogger();
  const core = new Server({ name: 's', version: '1' }, { logger });
  for (let round = 0; round < 2; round++) for (let n = 0; n < 1500; n++) core.warnOnce(`warning ${n}`);
  expect(logger.lines).toHaveLength(1000);
});
