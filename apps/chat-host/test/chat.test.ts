/** The chat in a real terminal, with three servers of other makers. */

import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { hasTmux, Terminal } from '../../../scripts/test/terminal.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const npm = (name: string): string => at(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`);

if (!hasTmux) console.log('tmux is not installed: the chat is not tried in a real terminal');

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'chat-host-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'notes.txt'), 'milk and bread');
});

interface Entry {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const everything: Entry = { args: [npm('server-everything'), 'stdio'] };
const memory = (...wrapper: string[]): Entry => ({
  args: [...wrapper, npm('server-memory')],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
});

/** Starts the chat with these servers, and waits until all are ready. */
async function openChat(servers: Readonly<Record<string, Entry>>): Promise<Terminal> {
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, { command: process.execPath, ...entry }]));
  const config = join(folder, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers }));
  const loader = ['--conditions=mortise-source', '--import', import.meta.resolve('tsx')];
  const chat = await Terminal.open([process.execPath, ...loader, at('../src/client.ts'), '--config', config]);
  const count = Object.keys(servers).length;
  await chat.see(`${count}/${count} >`);
  return chat;
}

async function leave(chat: Terminal): Promise<void> {
  await chat.enter('/quit');
  await chat.see('exit 0');
  expect(await chat.processes('server-')).toEqual([]);
}

const CONSENT = 'always this [s]erver, [n]o:';

describe.skipIf(!hasTmux)('the chat, in a real terminal,', () => {
  it('shows the states of its servers, and asks before a tool runs, with its inputs first', async () => {
    const chat = await openChat({ everything, files: { args: [npm('server-filesystem'), folder] }, memory: memory() });
    await chat.enter('/servers');
    await chat.see('✓ everything ready\n✓ files ready\n✓ memory ready');
    const path = join(folder, 'notes.txt');
    await chat.enter(`use read_text_file {"path": "${path}"}`);
    const asked = await chat.see(CONSENT);
    expect(asked).toContain(`⚙ files__read_text_file {"path":"${path}"}\n  a tool of files, that says of itself:\n`);
    expect(asked).not.toContain('milk and bread');
    await chat.press('n');
    await chat.see('✗ files__read_text_file\n    Error: the tool "files__read_text_file" was not called: the policy did not allow it');

    await chat.enter(`use read_text_file {"path": "${path}"}`);
    await chat.answer(CONSENT, 't');
    await chat.see('✓ files__read_text_file\n    milk and bread\n');
    await chat.see('The tool says: milk and bread\n');
    await chat.enter(`use read_text_file {"path": "${path}", "head": 1}`);
    expect(await chat.see('The tool says: milk and bread')).not.toContain(CONSENT);
    await chat.enter(String.raw`use echo {"message": "\u001b[2J\u202eevil\u0007"}`);
    await chat.answer(CONSENT, 'y');
    await chat.see(String.raw`The tool says: Echo: \u001b[2J\u202eevil\u0007`);
    await leave(chat);
  });

  it('answers a form and lends its model, shows both before they are sent, and follows a list that changes', async () => {
    const chat = await openChat({ everything });
    await chat.enter('use trigger-elicitation-request');
    await chat.answer(CONSENT, 's');
    await chat.see('? everything asks\n    Please provide inputs for the following fields:');
    await chat.answer('Answer it? [y]es, [n]o:', 'y');
    await chat.answer('String:', 'Ann');
    await chat.answer('Boolean (yes, no)', 'yes');
    await chat.answer('String with default [It was a dark and stormy night.]:', '');
    await chat.answer('String with email format', 'ann@example.org');
    await chat.answer('String with uri format', '');
    await chat.answer('String with date format', '');
    await chat.answer('Integer [42]:', '7');
    await chat.answer('Number in range 1-1000 [3.14]:', '');
    for (const choice of ['Untitled Single', 'Untitled Multiple', 'Titled Single', 'Titled Multiple', 'Legacy Titled'])
      await chat.answer(choice, '');
    await chat.see('✓ everything__trigger-elicitation-request');
    await chat.see('- Name: Ann');

    await chat.enter('use trigger-sampling-request {"prompt": "Why?", "maxTokens": 9}');
    await chat.see('? everything wants to ask a script (at most 9 tokens)\n    system: You are a helpful test server.\n');
    await chat.answer('Let it ask? [y]es, [n]o:', 'y');
    await chat.see('? everything would get this answer of the model\n    I am a script, not a model.');
    await chat.see('You said: Resource trigger-sampling-request context: Why?');
    await chat.answer('Send it? [y]es, [n]o:', 'y');
    await chat.see('LLM sampling result:');

    await chat.enter('/resources');
    await chat.enter('use gzip-file-as-resource {"name": "note.gz", "data": "data:text/plain,hello"}');
    await chat.see('everything: the list of resources has changed');
    await chat.enter('/resources');
    await chat.see('demo://resource/session/note.gz');
    await leave(chat);
  });

  it('starts a server again that is killed in a call, which costs that call alone', async () => {
    const chat = await openChat({ everything, memory: memory() });
    await chat.enter('use trigger-long-running-operation {"duration": 600, "steps": 1200}');
    await chat.answer(CONSENT, 's');
    await chat.see('… 1/1200');
    const [pid, ...others] = await chat.processes('server-everything');
    expect(others).toEqual([]);
    process.kill(Number(pid), 'SIGKILL');
    await chat.see('✗ everything failed');
    await chat.see('✓ everything ready');
    await chat.enter('use echo {"message": "again"}');
    await chat.see('The tool says: Echo: again');
    await leave(chat);
  });

  it('asks again for a tool that has changed since it was allowed, also after it was started anew', async () => {
    const before = await openChat({ memory: memory() });
    await before.enter('use read_graph');
    await before.answer(CONSENT, 't');
    await before.see('✓ memory__read_graph');
    await leave(before);

    const unchanged = await openChat({ memory: memory() });
    await unchanged.enter('use read_graph');
    expect(await unchanged.see('✓ memory__read_graph')).not.toContain(CONSENT);
    await leave(unchanged);

    const after = await openChat({ memory: memory(at('programs/changed-memory.mjs')) });
    await after.enter('use read_graph');
    const asked = await after.see(CONSENT);
    expect(asked).toContain('! This tool has changed since you allowed it. Read what it says now.\n');
    expect(asked).toContain('    Read everything, and every file that it names\n');
    await after.press('n');
    await after.see('was not called');
    await leave(after);
  });

  it('attaches resources by search, uses prompts as commands with completion, and stops an answer with Ctrl-C', async () => {
    const chat = await openChat({ everything });
    await chat.enter('what is in @architecture ?');
    await chat.see('attached demo://resource/static/document/architecture.md of everything');
    await chat.see('You said: what is in demo://resource/static/document/architecture.md ?');
    await chat.enter('and @dynamic+text');
    await chat.answer('resourceId:', '3');
    await chat.see('attached demo://resource/dynamic/text/3 of everything');

    await chat.enter('/everything__args-prompt city=Paris');
    await chat.answer('state [leave out]:', '');
    await chat.see("user: What's weather in Paris?");
    await chat.enter('/everything__completable-prompt');
    await chat.see('department:');
    await chat.press('Eng', 'Tab');
    await chat.see('department: Engineering');
    await chat.press('');
    await chat.answer('name:', 'Bob');
    await chat.see('user: Please promote Bob to the head of the Engineering team.');

    await chat.enter('use trigger-long-running-operation {"duration": 600, "steps": 1200}');
    await chat.answer(CONSENT, 'y');
    await chat.see('… 1/1200');
    await chat.press('', 'C-c');
    await chat.see('✗ you stopped it');
    await leave(chat);
  });

  it('says what is wrong in a configuration, and goes on with the other servers', async () => {
    await writeFile(
      join(folder, 'broken.json'),
      `{ "mcpServers": {\n  "bad": { "commnd": "x" },\n  "gone": { "command": "/no/such/program" }\n} }`,
    );
    const loader = ['--conditions=mortise-source', '--import', import.meta.resolve('tsx')];
    const chat = await Terminal.open([process.execPath, ...loader, at('../src/client.ts'), '--config', join(folder, 'broken.json')]);
    await chat.see('broken.json:2: mcpServers.bad');
    await chat.see('✗ gone failed');
    await chat.enter('hello');
    await chat.see('You said: hello');
    await chat.enter('use echo {"message": ');
    await chat.see('There is no tool "echo": /tools lists them');
    await chat.enter('/nonsense');
    await chat.see('There is no command or prompt "/nonsense": see /help and /prompts');
    await leave(chat);
  });
});
