/** The apps as a person starts them: each program tells what it understands, and refuses the rest in one line. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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
  if (!existsSync(join(apps, 'quickstart/dist/server.js'))) throw new Error('The apps are not built: run npm run build first');
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

describe('the programs of the apps', { timeout: 30_000 }, () => {
  it.each(programs)('%s says with --help what it does, its flags and an example, and does nothing else', async (program) => {
    const { code, stdout, stderr } = await run(program, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`node apps/${program}`);
    expect(stdout).toMatch(/^Usage: /);
    expect(stdout).toMatch(/^ {2}--[a-z-]+ .*|It has no flags\./m);
    expect(stdout).toMatch(/^Example/m);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(programs)('%s refuses a flag that it does not know in one line, and does nothing else', async (program) => {
    const { code, stdout, stderr } = await run(program, '--nonsense');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*--nonsense[^\n]*; the flags are [^\n]*--help\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('conformance/dist/client.js says in one line that it misses its URL', async () => {
    const { code, stdout, stderr } = await run('conformance/dist/client.js');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*URL[^\n]*--help[^\n]*\n$/);
  });

  it('read their flags by one and the same file', () => {
    const files = readdirSync(apps).map((app) => join(apps, app, 'src/read-flags.ts'));
    const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'));
    expect(texts.length).toBeGreaterThan(1);
    expect(new Set(texts).size).toBe(1);
  });

  it.each([
    ['http-calculator/dist/server.js', '--port'],
    ['conformance/dist/server.js', '--port'],
    ['protected/dist/client.js', '--auth-port'],
  ])('%s says in one line that a port is taken, or is none', async (program, flag) => {
    const taken = createServer();
    const port = await new Promise<number>((settle) => {
      taken.listen(0, '127.0.0.1', () => settle((taken.address() as { port: number }).port));
    });
    const busy = await run(program, flag, String(port));
    taken.close();
    expect(busy.code).toBe(1);
    expect(busy.stderr).toMatch(new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+\\n$`));
    const none = await run(program, flag, 'many');
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(/^[^\n]*port[^\n]*\n$/i);
  });
});
