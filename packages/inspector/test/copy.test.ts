import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { openLink } from './page-link.ts';
import { serveEverything } from './targets.ts';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

it('copies a call as curl, which a shell runs as it is, whatever its arguments hold', async () => {
  const link = await openLink();
  const server = await link.connect(await serveEverything('http'));
  const name = "it's $(touch x) `touch y`";
  const call = { server, method: 'prompts/get', params: { name: 'greet', arguments: { name } } };
  const { result } = await link.ask('request', call);
  const { message } = await link.event('wire', (event) => event.message.method === 'prompts/get');
  const { text } = await link.ask('copy', { server, seq: message.seq, as: 'curl' });
  const { stdout } = await promisify(execFile)('sh', ['-c', text]);
  expect(stdout).toContain(JSON.stringify(result['messages']));
  const { text: test } = await link.ask('copy', { server, seq: message.seq, as: 'test' });
  expect(test).toContain(`"name": ${JSON.stringify(name)}`);
});

it('copies a call as a test, which passes, and fails once the server answers otherwise', async () => {
  const link = await openLink();
  const server = await link.connect(await serveEverything('http'));
  await link.ask('request', { server, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } });
  const { message } = await link.event('wire', (event) => event.message.method === 'tools/call');
  const { text } = await link.ask('copy', { server, seq: message.seq, as: 'test' });
  const folder = mkdtempSync(fileURLToPath(new URL('copied-', import.meta.url)));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'right.test.ts'), text);
  writeFileSync(join(folder, 'wrong.test.ts'), text.replaceAll('"sum": 3', '"sum": 4'));
  const vitest = [fromRoot('node_modules/vitest/vitest.mjs'), 'run', '--reporter=json', folder];
  // It exits with 1, since one of the two fails.
  const failed = promisify(execFile)(process.execPath, vitest, { cwd: fromRoot('.') });
  const { stdout } = await failed.then(
    () => expect.fail('A test of a wrong result passed'),
    (error: { readonly stdout: string }) => error,
  );
  const { testResults } = JSON.parse(stdout) as { readonly testResults: readonly { readonly name: string; readonly status: string }[] };
  expect(Object.fromEntries(testResults.map(({ name, status }) => [basename(name), status]))).toEqual({
    'right.test.ts': 'passed',
    'wrong.test.ts': 'failed',
  });
});

it('says why a message cannot be copied', async () => {
  const link = await openLink();
  const server = await link.connect(await serveEverything('websocket'));
  await expect(link.ask('copy', { server, seq: 1, as: 'curl' })).rejects.toThrow('Only messages over Streamable HTTP');
  await expect(link.ask('copy', { server, seq: 2, as: 'test' })).rejects.toThrow('Only a request with its response');
});
