import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '@mortise/cli';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { serveHttp } from '@mortise/transport-http/node';
import { StreamTransport } from '@mortise/transport-stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run } from './run.ts';

const versions = ['2025-06-18', '2026-07-28'];

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A server whose tool `ask` asks the user twice, and whose tool `count` reports progress. */
async function serve(greeting = 'Hello'): Promise<string> {
  const server = new McpServer({ name: 'greeter', version: '1.0.0' });
  server.registerTool('ask', {}, async (ctx) => {
    const names: unknown[] = [];
    for (const message of ['First name?', 'Last name?']) {
      const answer = await ctx.elicit({ message, requestedSchema: { name: z.string() } });
      names.push(answer.action === 'accept' ? answer.content.name : answer.action);
    }
    return `${greeting} ${names.join(' ')}`;
  });
  server.registerTool('count', { inputSchema: { to: z.number() } }, async ({ to }, ctx) => {
    await ctx.progress({ progress: to });
    return `${greeting} ${to}`;
  });
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  return serving.url;
}

/** Connects a client to a command of ours that serves over stdio. */
async function connectTo(args: readonly string[], cwd: string, protocolVersion: string): Promise<McpClient & { ended: Promise<number> }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough().resume()];
  const ended = runCli(args, { stdin, stdout, stderr, env: {}, cwd });
  const names = ['Ada', 'Lovelace'];
  const client = new McpClient(
    { name: 'test', version: '1.0.0' },
    { protocolVersion, elicitation: { form: () => ({ action: 'accept', content: { name: names.shift() ?? '' } }) } },
  );
  const release = (): void => void stdin.end();
  await client.connect(new StreamTransport(() => ({ input: stdout, output: stdin, release })));
  onTestFinished(() => client.close());
  return Object.assign(client, { ended });
}

/** Records a list, a call with progress and a call with two questions. @returns The text results. */
async function useAll(client: McpClient): Promise<unknown[]> {
  await client.listTools();
  const progress: number[] = [];
  const counted = await client.callTool('count', { to: 3 }, { onProgress: (step) => progress.push(step.progress) });
  const asked = await client.callTool('ask');
  return [progress, counted.content, asked.content];
}

async function record(url: string, folder: string, version: string): Promise<unknown[]> {
  const client = await connectTo(['record', url, 'session.jsonl'], folder, version);
  const results = await useAll(client);
  await client.close();
  expect(await client.ended).toBe(0);
  return results;
}

describe.each(versions)('a recorded session of %s', (version) => {
  it('has every message of both sides in order, and changes none of them', async () => {
    const folder = createFolder();
    const [progress, counted, asked] = await record(await serve(), folder, version);
    expect(progress).toEqual([3]);
    expect(counted).toMatchObject([{ text: 'Hello 3' }]);
    expect(asked).toMatchObject([{ text: 'Hello Ada Lovelace' }]);
    const lines = readFileSync(join(folder, 'session.jsonl'), 'utf8').trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { ms: number; from: string; message: { method?: string } });
    expect(entries.map(({ ms }) => ms)).toEqual(entries.map(({ ms }) => ms).toSorted((a, b) => a - b));
    expect(entries[0]).toMatchObject({ from: 'client', message: { method: version === '2026-07-28' ? 'server/discover' : 'initialize' } });
    expect(entries.filter(({ from, message }) => from === 'server' && message.method === 'notifications/progress')).toHaveLength(1);
  });

  it('is answered alike by the same server, states and ids of questions included', async () => {
    const folder = createFolder();
    const url = await serve();
    await record(url, folder, version);
    const { code, out } = await run(['replay', 'session.jsonl', url], { cwd: folder });
    expect(out).toContain('✓ tools/call count');
    expect(out).toMatch(/ 0 different\n$/);
    expect(code).toBe(0);
  });

  it('shows where another server answers otherwise', async () => {
    const folder = createFolder();
    await record(await serve(), folder, version);
    const { code, out } = await run(['replay', 'session.jsonl', await serve('Goodbye')], { cwd: folder });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ tools\/call count\n  - .*"text": "Hello 3",?\n  \+ .*"text": "Goodbye 3"/);
    const json = await run(['replay', 'session.jsonl', await serve('Goodbye'), '--json'], { cwd: folder });
    const lines = json.out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ method: 'tools/call', isSame: false }),
    );
  });

  it('can stand in for the server that it was recorded with', async () => {
    const folder = createFolder();
    const results = await record(await serve(), folder, version);
    const client = await connectTo(['replay', 'session.jsonl'], folder, version);
    expect(await useAll(client)).toEqual(results);
    await expect(client.callTool('count', { to: 4 })).rejects.toThrow('The recording has no tools/call count with these params');
    await client.close();
    expect(await client.ended).toBe(0);
  });
});

it('a second recording takes a name of its own', async () => {
  const folder = createFolder();
  const url = await serve();
  await record(url, folder, '2026-07-28');
  await record(url, folder, '2026-07-28');
  expect(readdirSync(folder)).toEqual(['session-2.jsonl', 'session.jsonl']);
});

it('a file that is no recording is named with its line', async () => {
  const folder = createFolder();
  writeFileSync(join(folder, 'notes.txt'), '\n{"ms": 0}\n');
  const { code, err } = await run(['replay', 'notes.txt', 'http://127.0.0.1:1'], { cwd: folder });
  expect(code).toBe(2);
  expect(err).toContain('notes.txt:2 is not a line of a recording');
  writeFileSync(join(folder, 'empty.jsonl'), '');
  expect(await run(['replay', 'empty.jsonl', 'http://127.0.0.1:1'], { cwd: folder })).toMatchObject({
    code: 2,
    err: expect.stringContaining('holds no message') as string,
  });
});

it('a server that leaves in the middle ends the replay with what was waited for', async () => {
  const folder = createFolder();
  await record(await serve(), folder, '2025-06-18');
  const { code, err } = await run(
    ['replay', 'session.jsonl', `"${process.execPath}" -e "process.stdin.once('data', () => process.exit())"`],
    { cwd: folder },
  );
  expect(err).toMatch(/The server does not send the answer to initialize/);
  expect(code).toBe(3);
});

it('record says that the server was not reached, with exit code 3', async () => {
  const folder = createFolder();
  for (const server of [`"${process.execPath}" -e "process.exit(3)"`, 'there-is-no-such-program']) {
    const { code, err } = await run(['record', server, 'session.jsonl'], { cwd: folder });
    expect(code).toBe(3);
    expect(err).not.toBe('');
  }
});
