/** A suite starts all its clients at once; they play one after the other, so that a busy machine makes none of them late. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTurns } from '../conformance/turns.mjs';
import { root } from '../run-command.mjs';

const program = `
  import { appendFileSync } from 'node:fs';
  const [file, name] = process.argv.slice(2);
  appendFileSync(file, name + ' begins\\n');
  await new Promise((resolve) => setTimeout(resolve, 20));
  appendFileSync(file, name + ' ends\\n');
`;

let folder: string;
let turns: Awaited<ReturnType<typeof openTurns>>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turns-'));
  writeFileSync(join(folder, 'client.mjs'), program);
});

afterEach(async () => {
  await turns.close();
  rmSync(folder, { recursive: true });
});

function start(name: string): ChildProcess {
  const args = ['scripts/conformance/take-turn.mjs', String(turns.port), join(folder, 'client.mjs'), join(folder, 'log'), name];
  return spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
}

function readTurns(): string[] {
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n');
  for (let at = 0; at < lines.length; at += 2) expect(lines[at + 1]).toBe(lines[at]?.replace('begins', 'ends'));
  return lines.filter((_, at) => at % 2 === 0).map((line) => line.split(' ')[0] as string);
}

test('no client begins before the one before it has ended, and all play', async () => {
  turns = await openTurns(4);
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => once(start(name), 'exit')));
  expect(readTurns().sort()).toEqual(['a', 'b', 'c', 'd']);
});

test('a client that ends while it waits holds up nobody', async () => {
  turns = await openTurns(3);
  const first = start('a');
  const gone = connect(turns.port, '127.0.0.1');
  await once(gone, 'connect');
  gone.destroy();
  await Promise.all([first, start('b')].map((client) => once(client, 'exit')));
  expect(readTurns().sort()).toEqual(['a', 'b']);
});

test('a client that was not counted plays after the others', async () => {
  turns = await openTurns(1);
  await once(start('a'), 'exit');
  await once(start('b'), 'exit');
  expect(readTurns()).toEqual(['a', 'b']);
});
