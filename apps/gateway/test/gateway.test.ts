/** The app as a program, used through the official SDK's client. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../src/gateway.ts', import.meta.url));

let folder: string;
let gateway: ChildProcess;
let url: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'gateway-app-')));
  await writeFile(join(folder, 'notes.txt'), 'milk and bread');
  const args = ['--conditions=mortise-source', '--import', 'tsx', program, '--port', '0', '--folder', folder];
  gateway = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  [url = ''] = (await once(createInterface({ input: gateway.stdout as NodeJS.ReadableStream }), 'line')) as string[];
});
afterAll(async () => {
  const exited = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await rm(folder, { recursive: true });
});

describe.each(['legacy', 'auto'] as const)('the official client (%s), behind one address,', (mode) => {
  async function open(): Promise<Client> {
    const capabilities = { elicitation: { form: {} }, sampling: {} };
    const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { count: 4, name: 'Ann' } }));
    const text = { type: 'text' as const, text: 'a model says so' };
    client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant' as const, model: 'scripted', content: text }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    return client;
  }

  it('uses three servers, of which one keeps the tools that write to itself', async () => {
    const client = await open();
    // A call waits for its server, however slowly it starts; a list does not.
    expect(await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } })).toMatchObject({
      content: [{ text: 'Echo: hi' }],
    });
    const path = join(folder, 'notes.txt');
    expect(await client.callTool({ name: 'files__read_text_file', arguments: { path } })).toMatchObject({
      content: [{ text: 'milk and bread' }],
    });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'files__read_text_file', 'shop__buy']));
    expect(names).not.toContain('files__write_file');
    expect(await client.readResource({ uri: 'shop://prices' })).toMatchObject({ contents: [{ text: '{"apple":2,"pear":3}' }] });
  });

  it('is asked by servers of either era in mid-call', async () => {
    const client = await open();
    await client.listTools();
    expect(await client.callTool({ name: 'shop__buy', arguments: { fruit: 'pear' } })).toMatchObject({
      content: [{ text: '4 pear sold' }],
    });
    const sampled = await client.callTool({ name: 'everything__trigger-sampling-request', arguments: { prompt: 'Why?', maxTokens: 9 } });
    expect(JSON.stringify(sampled)).toContain('a model says so');
  });
});

it('says at /health how the servers are', async () => {
  const { status, servers } = (await (await fetch(new URL('/health', url))).json()) as { status: string; servers: object };
  expect(status).toBe('ok');
  expect(Object.keys(servers)).toEqual(['everything', 'files', 'shop']);
});
