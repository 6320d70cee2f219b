/** The command as a person runs it: what it prints, where, and its exit code. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const cli = pathToFileURL(join(import.meta.dirname, '../src/cli.ts')).href;
/** What `bin/codemod.js` does. */
const program = (args: readonly string[]): string => `import { main } from '${cli}'; await main(${JSON.stringify(args)});`;
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codemod-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', tsx, '--input-type=module', '-e', program(args)], {
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

const put = (code: string): void => writeFileSync(join(folder, 'a.ts'), code);
const get = (): string => readFileSync(join(folder, 'a.ts'), 'utf8');

it('rewrites, says what it changed, and ends with 0 if nothing is left', () => {
  put("import '@modelcontextprotocol/sdk/types.js';\n");
  expect(run('v1', folder)).toEqual({ code: 0, stdout: 'Changed 1 file.\n  a.ts\nNothing is left to do by hand.\n', stderr: '' });
  expect(get()).toBe("import '@mortise/compat-v1/types.js';\n");
});

it('lists what is left with file and line, and ends with 1', () => {
  put("const a = 1;\nrequire('@modelcontextprotocol/sdk/' + a);\n");
  const { code, stdout } = run('v1', folder);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^Changed 0 files\.\nLeft to do by hand, 1 place:\n {2}a\.ts:2 {2}.*by hand\nThe guide: https:\S+\.md\n$/),
  ]);
});

it('shows a diff alone on standard output on a dry run, and writes nothing', () => {
  const code = "import '@modelcontextprotocol/sdk/types.js';\n";
  put(code);
  const { stdout, stderr } = run('v1', folder, '--dry-run');
  expect(stdout).toMatch(/^Index: a\.ts\n=+\n--- a\.ts\n\+\+\+ a\.ts\n@@/);
  expect(stderr).toContain('Would change 1 file.');
  expect(get()).toBe(code);
});

it.each([
  ['v1', 'v2', '@modelcontextprotocol/server'],
  ['v2', 'v1', '@modelcontextprotocol/sdk/server/mcp.js'],
])('refuses %s for a program of %s, names the right version, and ends with 2', (wrong, right, module) => {
  const code = `import { McpServer } from '${module}';\nserver.tool('a', {});\n`;
  put(code);
  const { code: exitCode, stdout, stderr } = run(wrong, folder);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(new RegExp(`^error: .*this program uses ${right}.*run "codemod ${right}"[^\\n]*\\n$`));
  expect(get()).toBe(code);
});

it('goes on in a program of both versions', () => {
  put("import '@modelcontextprotocol/sdk/types.js';\nimport '@modelcontextprotocol/server';\n");
  expect(run('v1', folder).code).toBe(0);
});

it.each([
  ['a version that is none', ['v3', '.']],
  ['no folder', ['v1']],
  ['a folder that is not there', ['v1', join(tmpdir(), 'no-such-folder')]],
  ['--native with v2', ['v2', '.', '--native']],
  ['an unknown flag', ['v1', '.', '--force']],
])('ends with 2 and one line for %s', (_, args) => {
  const { code, stdout, stderr } = run(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
});
