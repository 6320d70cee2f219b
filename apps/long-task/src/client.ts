/**
 * Has a report built, answers the question in its middle, kills the server with -9 twice on the way, and watches the report being finished;
 * then cancels another one. Exits with 0 when every sum was done once and every answer was the right one.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { taskClient } from '@mortise/tasks/client';
import { stdioTransport, type StdioTransport } from '@mortise/transport-stdio/client';
import { program } from 'commander';
import { findNode } from './find-node.ts';

program
  .name('node apps/long-task/dist/client.js')
  .description('Has reports built by a server that it kills on the way, and exits with 0 when every sum was done once.')
  .addHelpText('after', '\nExample: npm start --prefix apps/long-task      (from the root of the repository, after npm run build)')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const info = { name: 'long-task-client', version: '1.0.0' };
const server = fileURLToPath(new URL('server.js', import.meta.url));

function print(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

/** Kills the server's process as nothing else does: no handler of it gets to run. */
function kill(pid: number | undefined): void {
  assert(pid !== undefined);
  process.kill(pid, 'SIGKILL');
  print(`kill -9 ${pid}`);
}

async function show(era: 'modern' | 'legacy', command: string, folder: string): Promise<void> {
  process.stdout.write(`\n${era} tasks\n`);
  let asked = 0;
  const processes: StdioTransport[] = [];
  const start = (): StdioTransport => {
    const transport = stdioTransport({ command, args: [server, '--database', path.join(folder, `${era}.db`)], stderr: 'ignore' });
    processes.push(transport);
    return transport;
  };
  const tasks = taskClient();
  const client = await McpClient.connect(start, info, {
    era,
    extensions: [tasks],
    elicitation: ({ message }) => {
      asked += 1;
      print(`asked: ${message} USD`);
      return { action: 'accept', content: { currency: 'USD' } };
    },
  });
  try {
    const report = await tasks.start('build_report', { title: 'Sales' });
    const killAt = ['adding up east', 'adding up south'];
    let last: string | undefined;
    for await (const { status, statusMessage } of report.updates()) {
      if (statusMessage !== undefined && statusMessage !== last) print(`${status}: ${statusMessage}`);
      last = statusMessage;
      if (killAt[0] === undefined || statusMessage?.startsWith(killAt[0]) !== true) continue;
      killAt.shift();
      kill(processes.at(-1)?.pid);
    }
    const { structuredContent } = await report.result();
    print(`the report: ${JSON.stringify(structuredContent)}`);
    const totals = { north: 500_500, east: 1_001_000, south: 1_501_500, west: 2_002_000 };
    assert.deepEqual(structuredContent, { title: 'Sales', currency: 'USD', totals, number: 1 });
    assert.equal(killAt.length, 0, 'the server was killed twice');
    assert.equal(asked, 1, 'the question was answered once');

    const other = await tasks.start('build_report', { title: 'Nobody wants this' });
    const outcome = assert.rejects(other.result(), { code: 'ERR_TASK_CANCELLED' });
    await other.cancel();
    await outcome;
    assert.equal((await other.status()).status, 'cancelled');
    print('another one was cancelled');

    const { structuredContent: counts } = await client.callTool('counts');
    assert.deepEqual(counts, { additions: { north: 1, east: 1, south: 1, west: 1 }, reports: 1 });
    print('every region was added up once, one report was written');
  } finally {
    await client.close();
  }
}

const folder = await mkdtemp(path.join(tmpdir(), 'mortise-long-task-'));
try {
  const command = await findNode();
  for (const era of ['modern', 'legacy'] as const) await show(era, command, folder);
  process.stdout.write('\nEverything went on where it had stopped.\n');
} finally {
  await rm(folder, { recursive: true, force: true });
}
