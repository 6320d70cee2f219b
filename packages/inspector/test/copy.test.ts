import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openLink } from './page-link.ts';
import { serveEverything } from './targets.ts';

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

it('says why a message cannot be copied', async () => {
  const link = await openLink();
  const server = await link.connect(await serveEverything('websocket'));
  await expect(link.ask('copy', { server, seq: 1, as: 'curl' })).rejects.toThrow('Only messages over Streamable HTTP');
  await expect(link.ask('copy', { server, seq: 2, as: 'test' })).rejects.toThrow('Only a request with its response');
});
