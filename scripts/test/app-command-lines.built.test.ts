/** The apps as a person starts them: each program tells what it understands, and refuses the rest in one line. */

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, runNode } from '../run-command.mjs';

const apps = join(root, 'apps');
const programs = readdirSync(apps)
  .flatMap((app) => [`${app}/dist/server.js`, `${app}/dist/client.js`])
  .filter((program) => existsSync(join(apps, program.replace('dist', 'src').replace('.js', '.ts'))))
  .concat('gateway/dist/gateway.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-command-lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program in an empty folder. */
async function run(program: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runNode([join(apps, program), ...args], { cwd: folder });
  return { code, stdout, stderr };
}

/** The flags that a help text lists, each on a line of its own. */
function toFlags(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+) .*/gm)].map(([, flag = '']) => flag);
}

describe('the programs of the apps', () => {
  it.each(programs)('%s says with --help what it does, its flags and an example, and refuses other flags in one line', async (program) => {
    const [help, refused] = await Promise.all([run(program, '--help'), run(program, '--hel')]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: [^]*^Example/m);
    expect(help.stdout).toContain(`node apps/${program}`);
    const flags = toFlags(help.stdout).join(', ');
    expect(flags).toContain('--help');
    expect(refused).toEqual({ code: 2, stdout: '', stderr: `error: unknown option '--hel'; the flags are ${flags}\n` });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('say in one line that an argument is missing or wrong', async () => {
    for (const [program, args, says] of [
      ['conformance/dist/client.js', [], /^[^\n]*URL[^\n]*--help[^\n]*\n$/],
      ['conformance/dist/client.js', ['nowhere'], /^[^\n]*nowhere[^\n]*URL[^\n]*\n$/],
      ['swap-transport/dist/client.js', ['--transport=pigeon'], /^[^\n]*--transport[^\n]*pigeon[^\n]*newlines; the flags are [^\n]*\n$/],
      [
        'http-calculator/dist/server.js',
        ['--port=65536'],
        /^error: option '--port <n>' argument '65536' is invalid[^\n]*from 0 to 65535[^\n]*\n$/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await run(program, ...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(says);
    }
  });

  it('say in one line that a port is taken', async () => {
    const taken = createServer();
    const port = await new Promise<number>((settle) => {
      taken.listen(0, '127.0.0.1', () => settle((taken.address() as { port: number }).port));
    });
    const { code, stderr } = await run('http-calculator/dist/server.js', '--port', String(port));
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+\\n$`));
  });
});
