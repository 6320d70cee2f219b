/** The page `docs/reference/command-line.md`: the help of `mortise` and of each of its commands, as the command prints it. */

import { PassThrough } from 'node:stream';
import { createProgram } from '../packages/cli/src/program.ts';
import { Terminal } from '../packages/cli/src/terminal.ts';

const COLUMNS = 100;

type Command = ReturnType<typeof createProgram>;

/** The page. */
export function renderCommandLine(): string {
  const stream = new PassThrough();
  const program = createProgram(new Terminal({ stdin: stream, stdout: stream, stderr: stream, env: {}, cwd: '/' }));
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  const rows = commands.map((command) => `| [\`${nameOf(command)}\`](#${anchorOf(command)}) | ${firstSentence(command)} |`);
  return `${[
    '# Command line',
    'Every command of `mortise` with its options, as `mortise <command> --help` prints them.',
    'Written by `npm run docs:write`. Do not edit by hand.',
    fence('sh', 'npm install --save-dev @mortise/cli\nnpx mortise --help'),
    ['| command | what it does |', '|---|---|', ...rows].join('\n'),
    '## mortise',
    fence('text', helpOf(program)),
    ...commands.flatMap((command) => [`## ${nameOf(command)}`, fence('text', helpOf(command))]),
    '## Next',
    '- [Look at a server with the inspector](../how-to/inspector.md)\n- [Examine a server](../how-to/examine-a-server.md)\n- [Desktop hosts](../how-to/desktop-hosts.md)',
  ].join('\n\n')}\n`;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => COLUMNS, getOutHasColors: () => false });
  command.outputHelp();
  return text.trimEnd();
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function anchorOf(command: Command): string {
  return nameOf(command).replaceAll(' ', '-');
}

function firstSentence(command: Command): string {
  return command.description().split('\n')[0] ?? '';
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
