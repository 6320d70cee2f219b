/** The apps as a person starts them: each program tells what it understands, and refuses the rest in one line. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const apps = resolve(import.meta.dirname, '../../apps');
const programs = readdirSync(apps)
  .flatMap((app) => [`${app}/dist/server.js`, `${app}/dist/client.js`])
  .filter((program) => existsSync(join(apps, program.replace('dist', 'src').replace('.js', '.ts'))));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-command-lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in an empty folder. */
function run(program: string, ...args: string[]): Promise<Ended> {
  return new Promise((settle) => {
    const child = spawn(process.execPath, [join(apps, program), ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
    child.on('close', (code) => settle({ code, ...printed }));
  });
}

/** The flags that a help text lists, each on a line of its own. */
function toFlags(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+) .*/gm)].map(([, flag = '']) => flag);
}

describe('the programs of the apps', () => {
  it.each(programs)('%s says with --help what it does, its flags and an example, and does nothing else', async (program) => {
    const { code, stdout, stderr } = await run(program, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`node apps/${program}`);
    expect(stdout).toMatch(/^Usage: /);
    expect(toFlags(stdout)).toContain('--help');
    expect(stdout).toMatch(/^Example/m);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(programs)(
    '%s refuses a flag that it does not know in one line that names those it knows, and does nothing else',
    async (program) => {
      const { code, stdout, stderr } = await run(program, '--hel');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      const { stdout: help } = await run(program, '--help');
      expect(stderr).toBe(`error: unknown option '--hel'; the flags are ${toFlags(help).join(', ')}\n`);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.each([
    ['conformance/dist/server.js', '--port', '3001'],
    ['http-calculator/dist/server.js', '--port', '3000'],
    ['http-calculator/dist/server.js', '--no-sessions', 'with sessions'],
    ['http-calculator/dist/server.js', '--origin', 'pages on this machine alone'],
    ['http-calculator/dist/server.js', '--sse', 'false'],
    ['long-task/dist/server.js', '--database', '"reports.db"'],
    ['protected/dist/client.js', '--opaque', 'JWTs that it reads by itself'],
    ['protected/dist/client.js', '--auth-port', '0'],
    ['swap-transport/dist/client.js', '--transport', '"memory"'],
  ])('%s tells what %s is where it is not given: %s', async (program, flag, value) => {
    const { stdout } = await run(program, '--help');
    const lines = stdout.split(/^(?= {2}(?:-\w, )?--)/m).map((text) => text.replace(/\s+/g, ' ').trim());
    expect(lines.find((line) => line.startsWith(flag))).toContain(`default: ${value})`);
  });

  it('conformance/dist/client.js says in one line that it misses its URL', async () => {
    const { code, stdout, stderr } = await run('conformance/dist/client.js');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*URL[^\n]*--help[^\n]*\n$/);
    const { code: refused, stderr: reason } = await run('conformance/dist/client.js', 'nowhere');
    expect(refused).toBe(2);
    expect(reason).toMatch(/^[^\n]*nowhere[^\n]*URL[^\n]*\n$/);
  });

  it('swap-transport/dist/client.js says in one line that a transport is none, and which there are', async () => {
    const { code, stdout, stderr } = await run('swap-transport/dist/client.js', '--transport=pigeon');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*--transport[^\n]*pigeon[^\n]*newlines; the flags are [^\n]*\n$/);
  });

  it.each([
    ['http-calculator/dist/server.js', '--port'],
    ['conformance/dist/server.js', '--port'],
    ['protected/dist/client.js', '--auth-port'],
  ])('%s says in one line that a port is taken', async (program, flag) => {
    const taken = createServer();
    const port = await new Promise<number>((settle) => {
      taken.listen(0, '127.0.0.1', () => settle((taken.address() as { port: number }).port));
    });
    const busy = await run(program, flag, String(port));
    taken.close();
    expect(busy.code).toBe(1);
    expect(busy.stderr).toMatch(new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+\\n$`));
  });

  it.each(
    [
      ['http-calculator/dist/server.js', '--port'],
      ['conformance/dist/server.js', '--port'],
      ['protected/dist/client.js', '--port'],
      ['protected/dist/client.js', '--auth-port'],
    ].flatMap(([program = '', flag = '']) => ['many', '', '1.5', '65536'].map((text) => ({ program, flag, text }))),
  )('$program refuses $flag=$text, which is no port, before it starts anything', async ({ program, flag, text }) => {
    const { code, stdout, stderr } = await run(program, `${flag}=${text}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^error: option '${flag} <n>' argument '${text}' is invalid[^\\n]*from 0 to 65535; the flags are [^\\n]*--help\\n$`),
    );
  });
});
