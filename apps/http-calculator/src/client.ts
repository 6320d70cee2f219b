/**
 * Starts the server three times, with sessions, without, and with the oldest revision's endpoints, and uses it in each era as a program and as a web
 * page of another origin would. Exits with 0 when every answer was the right one.
 */

import assert from 'node:assert/strict';
import { McpClient } from '@mortise/client';
import { REVISIONS } from '@mortise/protocol';
import { httpTransport } from '@mortise/transport-http/client';
import { program } from 'commander';
import { type ServerProcess, startServer } from './start-server.ts';

program
  .name('node apps/http-calculator/dist/client.js')
  .description(
    'Starts the server with sessions, without them, and with HTTP+SSE, uses it in every revision, and exits with 0 when every answer was right.',
  )
  .addHelpText('after', '\nExample: npm start --prefix apps/http-calculator      (from the root of the repository, after npm run build)')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const info = { name: 'http-calculator-client', version: '1.0.0' };
const pages = ['https://app.example', 'https://admin.example'];

async function calculate(url: string, protocolVersion?: string): Promise<void> {
  const client = await McpClient.connect(httpTransport(url), info, protocolVersion === undefined ? {} : { protocolVersion });
  try {
    const { structuredContent } = await client.callTool('add', { a: 2, b: 3 });
    assert.deepEqual(structuredContent ?? { result: 5 }, { result: 5 });
    const steps: number[] = [];
    const slow = await client.callTool('sum_slowly', { numbers: [1, 2, 3] }, { onProgress: ({ progress }) => steps.push(progress) });
    assert.deepEqual(slow.content, [{ type: 'text', text: '6' }]);
    const { contents } = await client.readResource('greeting://Ada');
    assert.equal(contents[0]?.text, 'Hello, Ada!');
    print(
      `${client.protocolVersion} (${client.era})`,
      `2 + 3 = 5; 1 + 2 + 3 = 6, told in steps ${steps.join(', ') || 'none'}; Hello, Ada!`,
    );
  } finally {
    await client.close();
  }
}

/** What a browser asks before a page of another origin may call, and what a page of a stranger gets. */
async function visitAsPage(url: string): Promise<void> {
  for (const page of pages) {
    const preflight = { method: 'OPTIONS', headers: { origin: page, 'access-control-request-method': 'POST' } };
    const allowed = await fetch(url, preflight);
    assert.equal(allowed.headers.get('access-control-allow-origin'), page);
    assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /mcp-session-id/i);
  }
  const stranger = await fetch(url, { method: 'POST', headers: { origin: 'https://evil.example' } });
  assert.equal(stranger.status, 403);
  print('pages', `${pages.join(' and ')} may call; https://evil.example gets ${stranger.status}`);
}

async function show(title: string, flags: readonly string[], use: (server: ServerProcess) => Promise<void>): Promise<void> {
  const server = await startServer([...flags, ...pages.flatMap((page) => ['--origin', page])]);
  try {
    process.stdout.write(`\n${title}: ${server.url}\n`);
    await use(server);
  } finally {
    await server.stop();
  }
}

function print(what: string, text: string): void {
  process.stdout.write(`  ${what.padEnd(20)} ${text}\n`);
}

const streamable = REVISIONS.filter((revision) => revision.http.endpoints === 'single');

await show('With sessions', [], async ({ url }) => {
  await calculate(url);
  for (const { version } of streamable) await calculate(url, version);
  await visitAsPage(url);
});
await show('Without sessions', ['--no-sessions'], async ({ url }) => {
  for (const { version } of streamable) await calculate(url, version);
});
await show('HTTP+SSE', ['--sse'], async ({ url }) => {
  const oldest = REVISIONS.filter((revision) => !streamable.includes(revision));
  for (const { version } of oldest) await calculate(new URL('/sse', url).href, version);
});
process.stdout.write('\nEverything answered as it should.\n');
