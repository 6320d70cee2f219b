/** `mortise replay`: plays the client of a recording against a server, or the server of a recording for a client. */

import { resolve } from 'node:path';
import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import { StdioServerTransport } from '@mortise/transport-stdio/server';
import type { Command } from 'commander';
import { diffJson } from 'diff';
import { ExitCode } from '../errors.ts';
import { type Compared, playClient } from '../recording/play-client.ts';
import { RecordedServer } from '../recording/play-server.ts';
import { describeRequest, type Entry, readRecording } from '../recording/recording.ts';
import { toComparable } from '../recording/volatile.ts';
import { addTargetOptions, toPositive } from '../server-command.ts';
import { type TargetOptions, toTransport } from '../target.ts';
import { clean, type Terminal } from '../terminal.ts';

interface ReplayOptions extends TargetOptions {
  readonly json?: boolean;
  /** In seconds. */
  readonly timeout: number;
}

const EXAMPLES = `
Examples:
  mortise replay session.jsonl "node server.js"   # asks the server what was asked, and shows which answers differ
  mortise replay session.jsonl                    # is the server that was recorded, over stdio`;

export function addReplay(program: Command, terminal: Terminal): void {
  const command = program
    .command('replay <file> [server]')
    .description('Ask a server again what was recorded and compare its answers; without one, answer a client over stdio as recorded');
  addTargetOptions(command)
    .option('--json', 'print JSON for programs')
    .option('--timeout <seconds>', 'how long the server may take for one message', toPositive, 30)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, server: string | undefined, options: ReplayOptions) => {
      const entries = readRecording(resolve(terminal.io.cwd, file));
      if (server === undefined) await serveRecording(entries, terminal);
      else await compare(entries, server, options, terminal);
    });
}

async function compare(entries: readonly Entry[], server: string, options: ReplayOptions, terminal: Terminal): Promise<void> {
  terminal.isJson = options.json === true;
  const transport = toTransport(server, options, terminal)();
  const counts = { same: 0, different: 0 };
  try {
    for await (const compared of playClient(entries, transport, options.timeout * 1000, terminal.io.signal)) {
      counts[compared.isSame ? 'same' : 'different'] += 1;
      show(compared, terminal);
    }
  } finally {
    await transport.close();
  }
  if (counts.different > 0) terminal.exitCode = ExitCode.failed;
  if (!terminal.isJson) terminal.print(`${counts.same} answers as recorded, ${counts.different} different`);
}

function show({ request, recorded, live, isSame }: Compared, terminal: Terminal): void {
  const { id, method } = request;
  if (terminal.isJson) return terminal.printJson({ id, method, isSame, ...(!isSame && { recorded, live }) }, true);
  const mark = isSame ? terminal.style('green', '✓') : terminal.style('red', '✗');
  terminal.print(`${mark} ${clean(describeRequest(request))}`);
  if (isSame) return;
  for (const { added, removed, value } of diffJson(toComparable(recorded) as object, toComparable(live) as object)) {
    if (!added && !removed) continue;
    const lines = clean(value)
      .trimEnd()
      .replaceAll(/^/gm, removed ? '  - ' : '  + ');
    terminal.print(terminal.style(removed ? 'red' : 'green', lines));
  }
}

async function serveRecording(entries: readonly Entry[], terminal: Terminal): Promise<void> {
  const { stdin, stdout, signal } = terminal.io;
  const transport = new StdioServerTransport(stdin, stdout, { exitWhenDone: false });
  const closed = new Promise<void>((done) => (transport.onclose = done));
  const onUnknown = (request: JsonRpcRequest): void => terminal.note(clean(`not in the recording: ${JSON.stringify(request)}`));
  new RecordedServer(entries, transport, onUnknown);
  signal?.addEventListener('abort', () => void transport.close(), { once: true });
  await transport.start();
  await closed;
}
