/** What a client calls a server that it runs, and so what is kept apart. */

import { execFileSync } from 'node:child_process';
import { createResultCache, McpClient } from '@mortise/client';

import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtures, removeFolders } from './fixture.ts';

let fixtures: Awaited<ReturnType<typeof buildFixtures<'account-server' | 'tell-key'>>>;

beforeAll(async () => {
  fixtures = await buildFixtures('account-server', 'tell-key');
});
afterAll(removeFolders);

type Environment = Readonly<Record<string, string | undefined>>;
const keyOf = (env?: Environment): string => stdioTransport({ command: 'server', args: ['a'], env }).eraKey;

describe('servers that differ in their environment', () => {
  it('are two: the lists of one are never given to a client of the other, though they share a cache', async () => {
    const resultCache = createResultCache();
    const list = async (WHO: string): Promise<readonly string[]> => {
      const transport = stdioTransport({ command: process.execPath, args: [fixtures['account-server']], env: { WHO } });
      await using client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' }, { resultCache });
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    expect([await list('ann'), await list('bob')]).toEqual(['tool-of-ann', 'tool-of-bob'].map((name) => [name]));
  });

  it('have names of their own, whatever the order of their variables', () => {
    const keys = [undefined, { A: '1' }, { A: '2' }, { B: '1' }, { A: '1', B: '2' }, { A: undefined }].map((env) => keyOf(env));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyOf({ B: '2', A: '1' })).toBe(keyOf({ A: '1', B: '2' }));
    expect(keyOf({})).toBe(keyOf());
    for (const key of keys) expect(key).toMatch(/^stdio:server#[\w-]{43}$/);
  });

  it('have names that nobody else can make, so that a stored one tells no password that could be guessed', () => {
    const tell = (env: string): string => execFileSync(process.execPath, [fixtures['tell-key'], env], { encoding: 'utf8' }).trim();
    expect(tell('{}')).toBe(keyOf());
    const elsewhere = tell('{"PIN":"1234"}');
    expect(elsewhere).toMatch(/^stdio:server#[\w-]{43}$/);
    expect(elsewhere).not.toBe(keyOf({ PIN: '1234' }));
  });
});

describe('a program that serves nothing', () => {
  it('and ends with code 0 is asked whether it serves', async () => {
    const transport = stdioTransport({ command: process.execPath, args: ['-e', '0'], stderr: 'ignore' });
    await expect(McpClient.connect(transport, { name: 'test', version: '1.0.0' })).rejects.toThrow(
      /exited with code 0\. It wrote nothing to its standard output: check that the program serves MCP, as with serveStdio\(server\)$/,
    );
  });

  it.each([undefined, 'legacy'] as const)('but prints something is asked that too (%s)', async (era) => {
    const transport = stdioTransport({ command: process.execPath, args: ['--version'], stderr: 'ignore' });
    await expect(McpClient.connect(transport, { name: 'test', version: '1.0.0' }, { era })).rejects.toThrow(
      /exited with code 0\. It wrote text that is not MCP messages to its standard output: check that the program serves MCP, as with/,
    );
  });
});
