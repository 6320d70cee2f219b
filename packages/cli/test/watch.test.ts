import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '@mortise/cli';
import { McpClient, type ClientTransportSource } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { StreamTransport } from '@mortise/transport-stdio';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { describe, expect, it, onTestFinished } from 'vitest';

const versions = ['2025-06-18', '2026-07-28'];

/** Inside this package, so that the file finds `@mortise/server`. */
function createFolder(): string {
  const folder = mkdtempSync(fileURLToPath(new URL('./watched-', import.meta.url)));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function writeServer(folder: string, tool: string, body = `import { answer } from './answer.ts';`): void {
  const lines = [
    `import { McpServer } from '@mortise/server';`,
    body,
    `const server = new McpServer({ name: 'watched', version: '1.0.0' });`,
    `server.registerTool('${tool}', {}, () => answer);`,
    `server.registerTool('hang', {}, (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)));`,
    `export default server;`,
  ];
  writeFileSync(join(folder, 'server.ts'), lines.join('\n'));
}

interface Watched {
  readonly folder: string;
  readonly stdio: ClientTransportSource;
  /** Resolves when this text was printed to the error output. */
  printed(text: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<number>;
}

function watchServer(...options: string[]): Watched {
  const folder = createFolder();
  writeFileSync(join(folder, 'answer.ts'), `export const answer = 'first';`);
  writeServer(folder, 'one');
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let err = '';
  stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const end = new AbortController();
  const io = { stdin, stdout, stderr, env: {}, cwd: folder, signal: end.signal };
  const ended = runCli(['run', 'server.ts', '--watch', ...options], io);
  onTestFinished(async () => {
    end.abort();
    await ended;
  });
  const printed = async (text: RegExp): Promise<RegExpExecArray> => {
    await expect.poll(() => err).toMatch(text);
    const found = text.exec(err);
    err = '';
    return found ?? expect.fail();
  };
  const release = (): void => void stdin.end();
  return { folder, stdio: new StreamTransport(() => ({ input: stdout, output: stdin, release })), printed, ended };
}

async function connect(source: ClientTransportSource, protocolVersion: string): Promise<McpClient> {
  const client = new McpClient({ name: 'test', version: '1.0.0' }, { protocolVersion });
  await client.connect(source);
  onTestFinished(() => client.close());
  return client;
}

const toolNames = async (client: McpClient): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

/** Changes the server's tool twice, and expects that the client hears of it and then gets the new one. */
async function hearTwoChanges(client: McpClient, folder: string): Promise<void> {
  let onChanged: () => void = () => undefined;
  // Before others, because sources that are loaded as TypeScript cannot be imported twice at once.
  const first = client.listen({ toolsListChanged: true });
  await first.accepted;
  first.close();
  client.onToolsChanged(() => onChanged());
  // Once a later subscription is there, so is that of the callback.
  const later = client.listen({ toolsListChanged: true });
  await later.accepted;
  later.close();
  for (const tool of ['two', 'three']) {
    const changed = new Promise<void>((resolve) => (onChanged = resolve));
    writeServer(folder, tool);
    await changed;
    expect(await toolNames(client)).toEqual([tool, 'hang']);
  }
}

const LOADED = /loaded again in \d+ ms/;

describe.each(versions)('mortise run --watch, with a client of %s', (version) => {
  it('keeps the client on stdio, and tells it that the lists changed', async () => {
    const { folder, stdio, printed } = watchServer();
    const client = await connect(stdio, version);
    expect(await toolNames(client)).toEqual(['one', 'hang']);
    await hearTwoChanges(client, folder);
    await printed(LOADED);
    expect(client.isConnected).toBe(true);
  });

  it('tells clients over HTTP that the lists changed, each time', async () => {
    const { folder, printed } = watchServer('--http', '--port', '0');
    const [, url = ''] = await printed(/serving (\S+)/);
    await hearTwoChanges(await connect(httpTransport(url), version), folder);
  });

  it('loads the file again when a file that it imports changes', async () => {
    const { folder, stdio, printed } = watchServer();
    const client = await connect(stdio, version);
    expect((await client.callTool('one')).content).toMatchObject([{ text: 'first' }]);
    writeFileSync(join(folder, 'answer.ts'), `export const answer = 'second';`);
    await printed(LOADED);
    expect((await client.callTool('one')).content).toMatchObject([{ text: 'second' }]);
  });

  it('fails a call whose handler was replaced, and says why', async () => {
    const { folder, stdio } = watchServer();
    const client = await connect(stdio, version);
    const call = client.callTool('hang');
    writeServer(folder, 'two');
    await expect(call).rejects.toThrow('The server was loaded again before it answered');
  });

  it('goes on with the last server where a file cannot be loaded', async () => {
    const { folder, stdio, printed } = watchServer();
    const client = await connect(stdio, version);
    writeServer(folder, 'two', 'import {');
    await printed(/error: .*server\.ts failed while it was loaded[^]*; the last server goes on/);
    expect(await toolNames(client)).toEqual(['one', 'hang']);
    writeServer(folder, 'two');
    await printed(LOADED);
    expect(await toolNames(client)).toEqual(['two', 'hang']);
  });

  it('keeps the sessions of clients over HTTP, on the same port', async () => {
    const { folder, printed } = watchServer('--http', '--port', '0');
    const [, url = ''] = await printed(/serving (\S+)/);
    const sessions = new Set<string | null>();
    const fetchAndNote: typeof fetch = async (input, init) => {
      sessions.add(new Headers(init?.headers).get('mcp-session-id'));
      return fetch(input, init);
    };
    const client = await connect(httpTransport(url, { fetch: fetchAndNote }), version);
    await client.listTools();
    const before = [...sessions];
    writeServer(folder, 'two');
    await printed(LOADED);
    expect(await toolNames(client)).toEqual(['two', 'hang']);
    expect([...sessions]).toEqual(before);
  });
});

it('mortise run --watch leaves files alone that are no part of a program', async () => {
  const { folder, stdio, printed } = watchServer();
  const client = await connect(stdio, '2026-07-28');
  writeServer(
    folder,
    'two',
    `import { appendFileSync } from 'node:fs';
const answer = 'x';
appendFileSync(new URL('server.log', import.meta.url), 'loaded\\n');`,
  );
  await printed(LOADED);
  writeServer(folder, 'three', `const answer = 'x';`);
  await printed(LOADED);
  expect(await toolNames(client)).toEqual(['three', 'hang']);
  expect(readFileSync(join(folder, 'server.log'), 'utf8')).toBe('loaded\n');
});

it('mortise run --watch over WebSocket serves the next client on the same port', async () => {
  const { folder, printed } = watchServer('--ws', '--port', '0');
  const [, url = ''] = await printed(/serving (\S+)/);
  writeServer(folder, 'two');
  await printed(LOADED);
  expect(await toolNames(await connect(webSocketTransport(url), '2026-07-28'))).toEqual(['two', 'hang']);
});
