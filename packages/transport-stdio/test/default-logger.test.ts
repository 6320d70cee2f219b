/** What a server that is connected to `StdioServerTransport`, without `serveStdio`, says to the people who run it. */

import { PassThrough } from 'node:stream';
import { StdioServerTransport, stderrLogger } from '@mortise/transport-stdio/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtures, removeFolders } from './fixture.ts';
import { ServerProcess } from './server-process.ts';

let fixtures: Awaited<ReturnType<typeof buildFixtures<'connected-server'>>>;

beforeAll(async () => {
  fixtures = await buildFixtures('connected-server');
});
afterAll(removeFolders);

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** Lets it serve a tool that fails, and a line that is no message. */
async function serve(...args: readonly string[]): Promise<readonly string[]> {
  const server = await ServerProcess.start(fixtures['connected-server'], ...args);
  server.write({ id: 1, method: 'initialize', params: HELLO });
  await server.answers(1);
  server.child.stdin?.write('hi\n');
  server.write({ method: 'notifications/initialized' }, { id: 2, method: 'tools/call', params: { name: 'fail', arguments: {} } });
  server.child.stdin?.end();
  await server.exited;
  await server.stderrEnded;
  return server.stderrLines;
}

describe('a server that is connected to the class', () => {
  it('has standard error for its log, as with serveStdio: what a tool threw, and lines that are no message', async () => {
    const lines = await serve();
    expect(lines.filter((line) => line.startsWith('error: A tool failed {"tool":"fail"}'))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith('TypeError: '))).toBe(true);
    expect(lines.filter((line) => line.includes('"hi"'))).toEqual([
      expect.stringMatching(/^warning: The stdio transport reported an error: .*The line begins with "hi"/),
    ]);
    // The stack of the tool's error is the only one.
    const first = lines.findIndex((line) => line.startsWith('TypeError: '));
    expect(lines.filter((line, at) => line.startsWith('    at ') && at < first)).toEqual([]);
  });

  it("writes nothing there that the program's own logger and onerror are told", async () => {
    const lines = await serve('own');
    expect(lines).toEqual(expect.arrayContaining(['own logger: error A tool failed', 'own onerror']));
    expect(lines.filter((line) => /^(?:warning|error): /.test(line))).toEqual([]);
  });

  it('has none on streams that are not of the process', () => {
    const transport = new StdioServerTransport(new PassThrough(), new PassThrough());
    expect(transport.defaultLogger).toBeUndefined();
    expect(transport.onerror).toBeUndefined();
    expect(new StdioServerTransport().defaultLogger).toBe(stderrLogger);
  });
});
