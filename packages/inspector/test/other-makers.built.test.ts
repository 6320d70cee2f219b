/** The page with servers of other makers, each a process of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ServerTarget } from '../src/messages.ts';
import { callTool, executablePath, launch, openPage, shoot, TIMEOUT_MS } from './chromium.ts';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const everything = createRequire(fromRoot('interop/package.json')).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const others = fromRoot('tools/other-makers/servers.mjs');
const filesystem = fromRoot('tools/other-makers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const program = (...args: readonly string[]): ServerTarget => ({ type: 'stdio', name: 'other', command: process.execPath, args });

/** Starts a server over HTTP. It writes its URL to standard output, or its port to descriptor 3. */
async function serve(...args: readonly string[]): Promise<ServerTarget> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const [line] = (await Promise.race(
    [child.stdout, child.stdio[3]].map((output) => once(createInterface({ input: output as NodeJS.ReadableStream }), 'line')),
  )) as [string];
  return { type: 'http', name: 'other', url: line.startsWith('http') ? line : `http://127.0.0.1:${line}/mcp` };
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-inspector-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'note.txt'), 'a note');
  return folder;
}

interface Peer {
  readonly name: string;
  start(folder: string): ServerTarget | Promise<ServerTarget>;
  /** A tool, what is filled in, and what its result shows. @default add, of two numbers */
  readonly call?: readonly [tool: string, fields: (folder: string) => Readonly<Record<string, string>>, shown: string];
  /** How many resources are listed, the last of them, and what it shows. */
  readonly resources?: readonly [count: number, name: string, shown: string];
  /** A prompt, what is filled in, and what it shows. */
  readonly prompt?: readonly [name: string, fields: Readonly<Record<string, string>>, shown: string];
}

const anyPort = ['--import', new URL('../../../interop/fixtures/any-port.mjs', import.meta.url).href];
const official = {
  resources: [5, 'item-5', 'text of item-5'],
  prompt: ['ask', { topic: 'music' }, 'Tell me about music'],
} as const;
const peers: readonly Peer[] = [
  {
    name: 'server-everything',
    start: () => program(everything, 'stdio'),
    call: ['Get Sum Tool', () => ({ a: '2', b: '3' }), 'The sum of 2 and 3 is 5.'],
    resources: [7, 'structure.md', 'Server'],
    prompt: ['Arguments Prompt', { city: 'Lund' }, "What's weather in Lund?"],
  },
  {
    name: 'server-filesystem',
    start: (folder) => program(filesystem, folder),
    call: ['Read Text File', (folder) => ({ path: join(folder, 'note.txt') }), 'a note'],
  },
  { name: 'FastMCP over stdio', start: () => program(others, 'fastmcp', 'stdio') },
  { name: 'FastMCP over HTTP', start: () => serve(...anyPort, others, 'fastmcp', 'http') },
  { name: 'the official SDK v1 over HTTP', start: () => serve(fromRoot('interop/fixtures/http-server.mjs'), 'v1'), ...official },
  { name: 'the official SDK v2 over stdio', start: () => program(fromRoot('interop/fixtures/official-v2-server.mjs')), ...official },
  { name: 'the official SDK v2 over HTTP', start: () => serve(fromRoot('interop/fixtures/http-server.mjs'), 'v2'), ...official },
];

/** Fills in required fields. */
async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.getByLabel(`${name} (required)`).fill(value);
}

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name, exact: true }).click();
}

describe.skipIf(executablePath === undefined)('the page, with a server of another maker,', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(() => browser.close());

  it.each(peers)(
    'connects to $name, lists, fills in, calls, reads and prompts',
    async ({ start, call = ['add', () => ({ a: '2', b: '3' }), '5'], resources, prompt }) => {
      const folder = createFolder();
      const { page, complaints } = await openPage(browser, { servers: [await start(folder)] });
      const [tool, fields, shown] = call;
      const tools = page.getByRole('region', { name: 'Tools', exact: true });
      await tools.getByRole('button', { name: new RegExp(`^${tool} `) }).click();
      await fill(page, fields(folder));
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      const result = page.getByRole('article');
      await result.getByText('done after').waitFor();
      await result.getByText(shown).first().waitFor();

      if (resources) {
        const [count, name, content] = resources;
        await openTab(page, 'Resources');
        const list = page.getByRole('region', { name: 'Resources', exact: true });
        await expect.poll(() => list.getByRole('listitem').count()).toBe(count);
        await list.getByRole('button', { name: new RegExp(`^${name}`) }).click();
        await page.getByRole('button', { name: 'Read', exact: true }).click();
        await result.getByText(content).first().waitFor();
      }
      if (prompt) {
        const [name, values, content] = prompt;
        await openTab(page, 'Prompts');
        await page
          .getByRole('region', { name: 'Prompts', exact: true })
          .getByRole('button', { name: new RegExp(`^${name}`) })
          .click();
        await fill(page, values);
        await page.getByRole('button', { name: 'Get', exact: true }).click();
        await result.getByText(content).first().waitFor();
      }

      await openTab(page, 'Wire');
      await page.getByLabel('Filter').fill('tools/call');
      await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(2);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'answers what server-everything asks: a form, a message of a model, and roots; and shows its progress, images and tables',
    async () => {
      const { page, complaints } = await openPage(browser, { servers: [program(everything, 'stdio')] });
      const result = page.getByRole('article');
      const dialog = page.getByRole('dialog');

      await callTool(page, 'Trigger Elicitation Request Tool');
      await dialog.getByLabel(/\(name\) \(required\)$|^name \(required\)$/).fill('Ada');
      await shoot(page, 'everything-form');
      await dialog.getByRole('button', { name: 'Accept' }).click();
      await result.getByText('Ada').first().waitFor();

      await page
        .getByRole('region', { name: 'Tools', exact: true })
        .getByRole('button', { name: /^Trigger Sampling Request Tool / })
        .click();
      await fill(page, { prompt: 'Hello?' });
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await dialog.getByLabel('Answer of the model').fill('Hello yourself.');
      await shoot(page, 'everything-sampling');
      await dialog.getByRole('button', { name: 'Send' }).click();
      await result.getByText('Hello yourself.').first().waitFor();

      await openTab(page, 'Server');
      await page.getByLabel('New root').fill('file:///work');
      await page.getByRole('button', { name: 'Add root' }).click();
      await openTab(page, 'Tools');
      await callTool(page, 'Get Roots List Tool');
      await result.getByText('file:///work').first().waitFor();

      await callTool(page, 'Get Tiny Image Tool');
      await result.getByRole('img').waitFor();
      await shoot(page, 'everything-image');

      await page
        .getByRole('region', { name: 'Tools', exact: true })
        .getByRole('button', { name: /^Trigger Long Running/ })
        .click();
      await page.getByLabel('duration').fill('60');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await result.getByRole('progressbar').waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await result.getByText('cancelled after').waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
