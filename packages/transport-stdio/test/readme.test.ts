import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { INHERITED_VARIABLES } from '@mortise/transport-stdio/client';
import { afterAll, expect, it } from 'vitest';
import { bundleProgram } from '../../../scripts/test/bundle-program.ts';
import { makeFolder, removeFolders } from './fixture.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(path.join(root, 'README.md'), 'utf8');
const programs = [...readme.matchAll(/```(?:js|ts)( [\w.]+)?\n(.*?)```/gs)].map((match) => match[2] ?? '');

afterAll(removeFolders);

it('the programs of the README print what the README says', async () => {
  const folder = await makeFolder();
  const files = ['server.js', 'client.mjs', 'socket.mjs'].map((name) => path.join(folder, name));
  const bundle = (outfile: string, contents = ''): Promise<void> =>
    bundleProgram({ stdin: { contents, resolveDir: root, loader: 'ts' }, outfile });
  const shown = [programs[0], programs[1], programs.at(-1)];
  await Promise.all(files.map((file, index) => bundle(file, shown[index])));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const file of files.slice(1)) {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
    expect(stdout).toBe("[ { type: 'text', text: '1970' } ]\n");
    expect(readme).toContain(stdout.trim());
  }
});

it('[TRAN-004] the reference documents how a connection is established, framed and cancelled, and what is inherited', async () => {
  const read = async (file: string): Promise<string> => (await readFile(path.join(root, 'src', file), 'utf8')).replaceAll('\r\n', '\n');
  const comment = /\/\*\*((?:(?!\*\/).)*)\*\/\nexport class StreamTransport /s.exec(await read('stream-transport.ts'))?.[1] ?? '';
  for (const subject of ['Connection', 'Framing', 'Cancellation'])
    expect(comment).toMatch(new RegExp(`^ \\* - \\*\\*${subject}\\*\\*: .{40}`, 'm'));
  const listed = (await read('child-process.ts')).replace(/\n \* +/g, ' ');
  for (const names of Object.values(INHERITED_VARIABLES)) expect(listed).toContain(names.join(' '));
});

it('the README is at most 120 lines long', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
