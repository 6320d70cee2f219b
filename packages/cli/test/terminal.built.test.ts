/** The built command in a real terminal. */

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasTmux, Terminal } from '../../../scripts/test/terminal.ts';

const mortise = [process.execPath, fileURLToPath(new URL('../bin/mortise.js', import.meta.url))];
const calc = fileURLToPath(new URL('servers/calc.ts', import.meta.url));

if (!hasTmux) console.log('tmux is not installed: mortise is not tried in a real terminal');

function createFolder(parent: string): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'mortise-terminal-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe.skipIf(!hasTmux)('mortise, in a real terminal,', () => {
  it('asks for the arguments that are missing, by the types of the schema', async () => {
    const terminal = await Terminal.open([...mortise, 'call', calc, 'add', 'a=1']);
    await terminal.answer('b:', '2');
    await terminal.see('{"sum":3}\nexit 0');
  });

  it('shows the form of a question with its server, and answers with what is typed', async () => {
    const terminal = await Terminal.open([...mortise, 'call', calc, 'ask']);
    await terminal.answer('calc asks: Who?\nAnswer? [Y/n]', 'y');
    await terminal.answer('name:', 'Ada');
    await terminal.see('{"action":"accept","content":{"name":"Ada"}}\nexit 0');
  });

  it('ends at Ctrl-C in a question and in a call, with 130', async () => {
    for (const [tool, seen] of [
      ['ask', 'Answer? [Y/n]'],
      ['count', 'n:'],
    ] as const) {
      const terminal = await Terminal.open([...mortise, 'call', calc, tool]);
      await terminal.see(seen);
      await terminal.press('', 'C-c');
      await terminal.see('exit 130');
      expect(await terminal.processes('mortise.js')).toEqual([]);
    }
  });

  it('shows the progress of a call in one line, which is gone when the call is', async () => {
    const terminal = await Terminal.open([...mortise, 'call', calc, 'count', 'n=100000']);
    await terminal.see(' 0 % working');
    await terminal.press('', 'C-c');
    await terminal.see('exit 130');
    expect(await terminal.text()).not.toContain('working');
  });

  it('shows what install changes, and writes it after a yes', async () => {
    const folder = createFolder(tmpdir());
    const file = join(folder, 'mcp.json');
    writeFileSync(file, '{\n  "mcpServers": {}\n}\n');
    const terminal = await Terminal.open([...mortise, 'install', 'npx -y weather', 'cursor', '--file', file]);
    await terminal.see('-  "mcpServers": {}\n+  "mcpServers": {\n+    "weather": {');
    await terminal.answer(`Write ${file}? [y/N]`, 'y');
    await terminal.see('written; restart the host to see "weather"\nexit 0');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: { weather: { command: 'npx', args: ['-y', 'weather'] } } });
  });

  it('says what run waits for, loads a changed file again with --watch, and ends at Ctrl-C', async () => {
    const folder = createFolder(fileURLToPath(new URL('servers', import.meta.url)));
    const file = join(folder, 'server.ts');
    const source = readFileSync(calc, 'utf8');
    writeFileSync(file, source);
    const terminal = await Terminal.open([...mortise, 'run', file, '--watch', '--http', '--port', '0']);
    await terminal.see('serving http://127.0.0.1:');
    writeFileSync(file, `import {\n${source}`);
    await terminal.see('the last server goes on');
    writeFileSync(file, source);
    await terminal.see('loaded again in ');
    await terminal.press('', 'C-c');
    await terminal.see('exit ');
  });
});
