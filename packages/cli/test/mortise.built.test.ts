import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { describe, expect, it, onTestFinished } from 'vitest';

const mortise = fileURLToPath(new URL('../bin/mortise.js', import.meta.url));
const calculator = fileURLToPath(new URL('servers/calc.ts', import.meta.url));

function start(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [mortise, ...args], (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }));
  });
}

describe('the command mortise', () => {
  it('starts a server from a TypeScript file, calls a tool and ends', async () => {
    expect(await start('call', calculator, 'add', 'a=1', 'b=2')).toEqual({ code: 0, out: '{"sum":3}\n', err: '' });
  });

  it('serves a file over HTTP until it is interrupted', async () => {
    const child = spawn(process.execPath, [mortise, 'run', calculator, '--http', '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    for await (const chunk of child.stderr) if (/http:\S+/.test((told += String(chunk)))) break;
    const client = await McpClient.connect(httpTransport(/http:\S+/.exec(told)?.[0] ?? ''), { name: 'test', version: '1.0.0' });
    expect((await client.callTool('add', { a: 2, b: 2 })).structuredContent).toEqual({ sum: 4 });
    await client.close();
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('keeps what a file prints while it is loaded from the client, and ends though the file left a timer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortise-run-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'server.ts');
    writeFileSync(file, `console.log('starting');\nsetInterval(() => {}, 1000);\nexport { server } from ${JSON.stringify(calculator)};\n`);
    for (const watch of [[], ['--watch']]) {
      const child = spawn(process.execPath, [mortise, 'run', file, ...watch], { stdio: ['pipe', 'pipe', 'ignore'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      child.stdin.write(
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}\n',
      );
      const [first] = (await once(child.stdout, 'data')) as [Buffer];
      expect(JSON.parse(first.toString())).toMatchObject({ id: 1, result: {} });
      child.stdin.end();
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
  });

  it.skipIf(process.platform === 'win32')('goes on with a session whose recording the disk has no room for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortise-record-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const serving = await serveHttp(new McpServer({ name: 'empty', version: '1.0.0' }), { port: 0 });
    onTestFinished(() => serving.close());
    const file = join(folder, 'session.jsonl');
    const notes: string[] = [];
    // No file may become longer than 1 or 2 KiB, depending on the shell.
    const script = 'ulimit -f 2; exec "$0" "$@"';
    const transport = stdioTransport({
      command: 'sh',
      args: ['-c', script, process.execPath, mortise, 'record', serving.url, file],
      stderr: (line) => void notes.push(line),
    });
    const client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' });
    for (let request = 0; request < 20; request++) await client.ping();
    await client.close();
    expect(notes.filter((line) => line.includes('the recording ended'))).toEqual([expect.stringMatching(/EFBIG.*; the session goes on$/)]);
    expect(readFileSync(file, 'utf8').length).toBeLessThanOrEqual(2048);
    // What there is of it can be read.
    expect((await start('replay', file, serving.url)).out).toMatch(/ 0 different\n$/);
  });

  it.each([
    ['list', 'SIGTERM'],
    ['doctor', 'SIGINT'],
  ] as const)('ends %s at %s though the server is silent, with exit code 130', async (command, signal) => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const child = spawn(process.execPath, [mortise, command, url], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(server, 'request');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([130, null]);
  });

  it('ends at SIGINT though a file is never loaded', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortise-run-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'server.ts');
    writeFileSync(file, `console.error('loading');\nsetInterval(() => {}, 1000);\nawait new Promise(() => {});\n`);
    for (const watch of [[], ['--watch']]) {
      const child = spawn(process.execPath, [mortise, 'run', file, ...watch], { stdio: ['pipe', 'ignore', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stderr, 'data');
      child.kill('SIGINT');
      expect(await once(child, 'exit')).toEqual([130, null]);
    }
  });

  it('says that a file exports no server', async () => {
    const file = fileURLToPath(new URL('servers/plain-server.mjs', import.meta.url));
    const { code, err } = await start('run', file);
    expect(code).toBe(2);
    expect(err).toContain('exports no server');
  });

  it('ends in silence, when the host closes its input, with a file that serves by itself', async () => {
    const file = fileURLToPath(new URL('servers/plain-stdio.mjs', import.meta.url));
    const child = spawn(process.execPath, [mortise, 'run', file], { stdio: ['pipe', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    child.stdin.write(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}\n',
    );
    await once(child.stdout, 'data');
    child.stdin.end();
    expect([...(await once(child, 'close')), told]).toEqual([0, null, '']);
  });

  it('ends quietly if nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [mortise, 'inspect', calculator], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    await once(child, 'exit');
    expect(told).toBe('');
  });

  it('goes on serving if nobody reads its notes any more', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mortise-run-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [file, log] = [join(folder, 'server.ts'), join(folder, 'loads.log')];
    const save = (): void =>
      writeFileSync(
        file,
        `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(log)}, 'x');\nexport { server } from ${JSON.stringify(calculator)};\n`,
      );
    save();
    const child = spawn(process.execPath, [mortise, 'run', file, '--watch', '--http', '--port', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stderr, 'data');
    child.stderr.destroy();
    // A note is written after each load.
    for (const loads of ['xx', 'xxx', 'xxxx']) {
      save();
      await expect.poll(() => readFileSync(log, 'utf8')).toBe(loads);
    }
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
