/** The command line of `mortise`: its commands, their options and examples. */

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addBench } from './commands/bench.ts';
import { addCall } from './commands/call.ts';
import { addCompletion } from './commands/completion.ts';
import { addCreate } from './commands/create.ts';
import { addDoctor } from './commands/doctor.ts';
import { addGateway } from './commands/gateway.ts';
import { addGetters } from './commands/getters.ts';
import { addInspect } from './commands/inspect.ts';
import { addInspector } from './commands/inspector.ts';
import { addInstall } from './commands/install.ts';
import { addListen } from './commands/listen.ts';
import { addRecord } from './commands/record.ts';
import { addReplay } from './commands/replay.ts';
import { addRun } from './commands/run.ts';
import { addTask } from './commands/tasks.ts';
import { ownFile } from './own-file.ts';
import type { Terminal } from './terminal.ts';

const ABOUT = `Looks into any MCP server, and runs your own.

<server> is a URL (http, https, ws, wss), a command in quotes, a file that "mortise run" takes,
or with --config a name in a configuration file such as mcp.json.`;

const EXAMPLES = `
Examples:
  mortise inspect https://example.com/mcp
  mortise call "npx -y @modelcontextprotocol/server-everything" get-sum a=2 b=3
  mortise run server.ts --http --port 3000
  mortise dev server.ts

Exit codes: 0 done, 1 the server or a tool answered with an error, 2 wrong command line, 3 server not reached or gone, 130 interrupted.`;

export function createProgram(terminal: Terminal): Command {
  const { stdout, stderr } = terminal.io;
  const { version } = JSON.parse(readFileSync(ownFile('package.json'), 'utf8')) as { readonly version: string };
  const program = new Command('mortise')
    .description(ABOUT)
    .version(version)
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(text.replace(/\.?\n$/, '; run it with --help\n')),
    });
  addRun(program, terminal);
  addInspector(program, terminal);
  addInspect(program, terminal);
  addCall(program, terminal);
  addTask(program, terminal);
  addGetters(program, terminal);
  addListen(program, terminal);
  addBench(program, terminal);
  addGateway(program, terminal);
  addDoctor(program, terminal);
  addRecord(program, terminal);
  addReplay(program, terminal);
  addInstall(program, terminal);
  addCreate(program, terminal);
  addCompletion(program, terminal);
  return program;
}
