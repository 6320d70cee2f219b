/**
 * The quickstart's client: starts the server as a child process, finds out which era it speaks, and uses everything it offers;
 * then does the same pinned to each older revision. Exits with 0 when every answer was the right one.
 */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { type ContentBlock, REVISIONS } from '@mortise/protocol';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { program } from 'commander';
import { heading, line, progressBar } from './transcript.ts';

program
  .name('node apps/quickstart/dist/client.js')
  .description('Starts the quickstart server, uses everything it offers in each revision, and exits with 0 when every answer was right.')
  .addHelpText('after', '\nExample: npm start      (from the root of the repository; installs and builds first)')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const serverFile = fileURLToPath(new URL('./server.js', import.meta.url));

/** The text of a result's first text block. */
function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.find((block) => block.type === 'text')?.text ?? '';
}

/** Reads an iterable that pages by itself to its end. */
async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

async function listEverything(client: McpClient): Promise<void> {
  const tools = await collect(client.tools());
  line('tools/list', tools.map((tool) => tool.name).join(', '));
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['add', 'divide', 'search_docs', 'convert_currency', 'count_down'],
  );
  const templates = await collect(client.resourceTemplates());
  line('resources/templates/list', templates.map((template) => template.uriTemplate).join(', '));
  const prompts = await collect(client.prompts());
  line('prompts/list', prompts.map((prompt) => prompt.name).join(', '));
}

async function callTools(client: McpClient): Promise<void> {
  const sum = await client.callTool('add', { a: 2, b: 3 });
  line('tools/call add { a: 2, b: 3 }', textOf(sum.content));
  assert.match(textOf(sum.content), /5/);

  const failed = await client.callTool('divide', { a: 1, b: 0 });
  line('tools/call divide { a: 1, b: 0 }', textOf(failed.content));
  assert.equal(failed.isError, true);

  const money = await client.callTool('convert_currency', { amount: 10, from: 'GBP', to: 'USD' });
  line('tools/call convert_currency { 10 GBP to USD }', textOf(money.content));
  assert.match(textOf(money.content), /15/);
}

/** What a block of content points at. Revisions before resource links are told "title <address>: description" in their place. */
function toLinkedUris(block: ContentBlock): readonly string[] {
  if (block.type === 'resource_link') return [block.uri];
  return block.type === 'text' ? [...block.text.matchAll(/<(docs:[^>]+)>/g)].map(([, uri = '']) => uri) : [];
}

async function readDocuments(client: McpClient): Promise<void> {
  const found = await client.callTool('search_docs', { query: 'transport', limit: 2 });
  const uris = found.content.flatMap(toLinkedUris);
  line('tools/call search_docs { query: "transport" }', uris.join(', '));
  assert.equal(uris.length, 2);
  for (const uri of uris) {
    const [document] = (await client.readResource(uri)).contents;
    line(`resources/read ${uri}`, document?.text?.split('\n')[0] ?? '');
    assert.match(document?.text ?? '', /^#/);
  }
  const [greeting] = (await client.readResource('greeting://Ada')).contents;
  line('resources/read greeting://Ada', greeting?.text ?? '');
  assert.equal(greeting?.text, 'Hello, Ada!');
}

async function promptAndComplete(client: McpClient): Promise<void> {
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'explain_calculation' },
    argument: { name: 'operation', value: 'd' },
  });
  line('completion/complete operation "d"', completion.values.join(', '));
  assert.deepEqual(completion.values, ['division']);
  const prompt = await client.getPrompt('explain_calculation', { operation: 'division' });
  const content = prompt.messages[0]?.content;
  assert.ok(content && !Array.isArray(content) && content.type === 'text');
  line('prompts/get explain_calculation', content.text);
}

async function waitAndCancel(client: McpClient): Promise<void> {
  const asked = 'tools/call count_down { steps: 20 }';
  const done = await client.callTool(
    'count_down',
    { steps: 20 },
    { onProgress: ({ progress, total }) => progressBar(asked, progress, total ?? 20) },
  );
  line(asked, textOf(done.content));

  const patience = new AbortController();
  const reason = new Error('the user lost patience');
  const cancelled = client.callTool('count_down', { steps: 1000 }, { signal: patience.signal, onProgress: () => patience.abort(reason) });
  await assert.rejects(cancelled, reason);
  line('tools/call count_down { steps: 1000 }', `cancelled: ${reason.message}`);
  const sum = await client.callTool('add', { a: 20, b: 22 });
  line('tools/call add { a: 20, b: 22 }', `${textOf(sum.content)} (the connection lives on)`);
}

async function show(title: string, protocolVersion?: string): Promise<void> {
  const client = await McpClient.connect(
    stdioTransport({ command: process.execPath, args: [serverFile] }),
    { name: 'quickstart-client', version: '1.0.0' },
    // On a busy machine the server may take seconds to start; as long as it is silent nothing is known of its era.
    { protocolVersion, probeTimeoutMs: 30_000 },
  );
  try {
    heading(`${title}: ${client.serverInfo?.name ?? 'the server'} speaks ${client.protocolVersion} (${client.era} era)`);
    await listEverything(client);
    await callTools(client);
    await readDocuments(client);
    await promptAndComplete(client);
    await waitAndCancel(client);
  } finally {
    await client.close();
  }
}

await show('Era detected');
for (const revision of REVISIONS.filter((one) => one.era === 'legacy')) {
  await show('Pinned to an older revision', revision.version);
}
process.stdout.write('\nEverything answered as it should.\n');
