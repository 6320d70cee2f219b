/** `ctx.listRoots`: the client's roots, and whether a path lies in one of them. */

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInRoots } from '@mortise/server/node';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from '../raw-peer.ts';
import { callIn, serverOf } from './chain.ts';

const uriOf = (path: string): Loose => ({ uri: pathToFileURL(path).href });

describe.each(ALL)('the list in %s', (version) => {
  const list = serverOf(async (ctx) => JSON.stringify((await Promise.all([ctx.listRoots(), ctx.listRoots()])).map(({ roots }) => roots)));

  it('[ROOT-008] is asked for once a call, and not at all of a client that has no roots', async () => {
    const roots = [{ uri: 'file:///home/ann' }];
    const { asked, text } = await callIn(version, list, () => ({ roots }));
    expect(asked).toHaveLength(1);
    expect(JSON.parse(text ?? '')).toEqual([roots, roots]);
    const none = await callIn(version, list, () => ({ roots }), { sampling: {} });
    expect(none.asked).toEqual([]);
    if (version === MODERN) expect(none.error?.code).toBe(-32021);
    else expect(none.result.isError).toBe(true);
  });

  it('is asked for again in another call where nobody tells of changes', async () => {
    const server = serverOf(async (ctx) => String((await ctx.listRoots()).roots.length));
    const first = await callIn(version, server, () => ({ roots: [] }), { roots: {} });
    expect(first.asked).toHaveLength(1);
    if (version === MODERN) return;
    await first.peer.callTool('run');
    expect(first.asked).toHaveLength(2);
  });
});

describe.each(LEGACY)('the list of a client that tells of changes in %s', (version) => {
  it('[ROOT-008] is kept until it changes', async () => {
    let roots = [{ uri: 'file:///one' }];
    let asked = 0;
    const server = serverOf(async (ctx) => (await ctx.listRoots()).roots.map(({ uri }) => uri).join());
    const peer = await RawPeer.open(server, version, { capabilities: { roots: { listChanged: true } } });
    peer.onRequest = () => ((asked += 1), { roots });
    const call = async (): Promise<string> => (await peer.callTool('run')).content[0].text;
    expect([await call(), await call()]).toEqual(['file:///one', 'file:///one']);
    expect(asked).toBe(1);
    roots = [{ uri: 'file:///two' }];
    expect(await call()).toBe('file:///one');
    peer.notify('notifications/roots/list_changed');
    expect([await call(), await call()]).toEqual(['file:///two', 'file:///two']);
    expect(asked).toBe(2);
  });

  it('[ROBUSTNESS-8] is not kept where it is long, and asked for once a call', async () => {
    const server = serverOf(async (ctx) =>
      String((await Promise.all([ctx.listRoots(), ctx.listRoots()])).flatMap(({ roots }) => roots).length),
    );
    const peer = await RawPeer.open(server, version, { capabilities: { roots: { listChanged: true } } });
    let asked = 0;
    peer.onRequest = () => (
      (asked += 1),
      { roots: Array.from({ length: 1_000 }, (_, at) => ({ uri: `file:///${'long'.repeat(20)}/${at}` })) }
    );
    for (const times of [1, 2]) {
      expect((await peer.callTool('run')).content[0].text).toBe('2000');
      expect(asked).toBe(times);
    }
  });

  it('[ROBUSTNESS-8] is asked for once a call where it is long, also one after the other, and by calls at the same time', async () => {
    const server = serverOf(async (ctx) => {
      const count = async (): Promise<number> => (await ctx.listRoots()).roots.length;
      return `${await count()},${await count()}`;
    });
    const peer = await RawPeer.open(server, version, { capabilities: { roots: { listChanged: true } } });
    let asked = 0;
    peer.onRequest = () => (
      (asked += 1),
      { roots: Array.from({ length: 1_000 }, (_, at) => ({ uri: `file:///${'long'.repeat(20)}/${at}` })) }
    );
    const call = async (): Promise<string> => (await peer.callTool('run')).content[0].text;
    for (const times of [1, 2]) {
      expect(await call()).toBe('1000,1000');
      expect(asked).toBe(times);
    }
    expect(await Promise.all([call(), call()])).toEqual(['1000,1000', '1000,1000']);
    expect(asked).toBe(3);
  });

  it('is kept for this client alone, and not where it could not be had', async () => {
    const server = serverOf(async (ctx) =>
      (await ctx.listRoots().catch(() => ({ roots: [{ uri: 'failed' }] }))).roots.map(({ uri }) => uri).join(),
    );
    const open = async (answer: Loose): Promise<RawPeer> => {
      const peer = await RawPeer.open(server, version, { capabilities: { roots: { listChanged: true } } });
      peer.onRequest = () => answer;
      return peer;
    };
    const ann = await open({ error: { code: -32603, message: 'no' } });
    const bob = await open({ roots: [{ uri: 'file:///bob' }] });
    const call = async (peer: RawPeer): Promise<string> => (await peer.callTool('run')).content[0].text;
    expect([await call(ann), await call(bob)]).toEqual(['failed', 'file:///bob']);
    ann.onRequest = () => ({ roots: [{ uri: 'file:///ann' }] });
    expect([await call(ann), await call(bob)]).toEqual(['file:///ann', 'file:///bob']);
  });
});

describe('contains', () => {
  let base: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'mortise-roots-')));
    await mkdir(join(base, 'project', 'deep'), { recursive: true });
    await mkdir(join(base, 'project-secret'));
    await writeFile(join(base, 'project', 'deep', 'file.txt'), 'x');
    await symlink(join(base, 'project-secret'), join(base, 'project', 'leads-out'));
    await symlink(join(base, 'project', 'deep'), join(base, 'leads-in'));
    await symlink(join(base, 'nowhere'), join(base, 'project', 'dangling'));
    await symlink(join(base, 'project'), join(base, 'alias'));
    await symlink(join(base, 'project', 'loop'), join(base, 'project', 'loop'));
  });
  afterEach(() => rm(base, { recursive: true }));

  const ask = async (version: Loose, roots: Loose[], path: string | URL): Promise<string | undefined> => {
    const server = serverOf(async (ctx) => String(await isInRoots((await ctx.listRoots()).roots, path)));
    return (await callIn(version, server, () => ({ roots }))).text;
  };

  it.each(ALL)('[ROOT-009] tells by where paths really lead in %s', async (version) => {
    const cases: [string, string][] = [
      ['project', 'true'],
      ['project/', 'true'],
      ['project/deep/file.txt', 'true'],
      ['project/deep/../deep/file.txt', 'true'],
      ['project/not/yet/there.txt', 'true'],
      ['project/..name', 'true'],
      ['leads-in/file.txt', 'true'],
      ['leads-in/new.txt', 'true'],
      ['', 'false'],
      ['project-secret', 'false'],
      ['project/../project-secret', 'false'],
      ['project/leads-out', 'false'],
      ['project/leads-out/new.txt', 'false'],
      ['project/dangling', 'false'],
      ['project/dangling/new.txt', 'false'],
      ['project/loop', 'false'],
      ['project/deep/file.txt/below', 'false'],
      ['project/\0', 'false'],
    ];
    const told = await Promise.all(
      cases.map(async ([path]) => [path, await ask(version, [uriOf(join(base, 'project'))], `${base}/${path}`)]),
    );
    expect(told).toEqual(cases);
  });

  it('follows links of the roots themselves, takes URLs, and knows escapes', async () => {
    const alias = [uriOf(join(base, 'alias'))];
    expect(await ask(MODERN, alias, join(base, 'project', 'deep'))).toBe('true');
    expect(await ask(MODERN, alias, pathToFileURL(join(base, 'project', 'a b')))).toBe('true');
    expect(await ask(MODERN, alias, `${pathToFileURL(base).href}/project/%2e%2e/project-secret`)).toBe('false');
    expect(await ask(MODERN, alias, `${pathToFileURL(base).href}/project/..%2fproject-secret`)).toBe('false');
    expect(await ask(MODERN, alias, 'file://other-host/x')).toBe('false');
  });

  it('[ROOT-008] passes over roots that have vanished or are no files', async () => {
    const roots = [uriOf(join(base, 'gone')), { uri: 'https://a.example/' }, { uri: 'file://%' }, uriOf(join(base, 'project'))];
    expect(await ask(MODERN, roots, join(base, 'project', 'deep'))).toBe('true');
    expect(await ask(MODERN, roots.slice(0, 3), join(base, 'gone'))).toBe('false');
    expect(await ask(MODERN, [], base)).toBe('false');
  });

  it('needs an absolute path', async () => {
    await expect(isInRoots([uriOf(base)], 'project')).rejects.toThrow('absolute');
  });
});

it.each(LEGACY)('[MRTR-026] questions are requests with an id of their own, answered by responses, in %s', async (version) => {
  const server = serverOf(async (ctx) => {
    await ctx.listRoots();
    await ctx.sample({ messages: [], maxTokens: 1 });
    if (ctx.revision.rules.elicitation !== 'none') await ctx.elicit({ message: 'm', requestedSchema: { type: 'object', properties: {} } });
    return 'done';
  });
  const { peer, text } = await callIn(version, server);
  expect(text).toBe('done');
  const requests = peer.requests();
  const hasForms = version === '2025-06-18' || version === '2025-11-25';
  expect(requests.map(({ method }) => method)).toEqual([
    'roots/list',
    'sampling/createMessage',
    ...(hasForms ? ['elicitation/create'] : []),
  ]);
  expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length);
});
