/** `mortise completion`: a script that completes commands and options in a shell. */

import { Argument, type Command, Option } from 'commander';
import type { Terminal } from '../terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText('after', '\nExample: mortise completion bash >> ~/.bashrc')
    .action((shell: Shell) => terminal.print(shell === 'fish' ? toFish(program) : toBash(program, shell)));
}

const flagsOf = (command: Command): readonly string[] => [...command.options, new Option('--help')].flatMap(({ long }) => long ?? []);

function toBash(program: Command, shell: Shell): string {
  const cases = program.commands.map((command) => `    ${command.name()}) words='${flagsOf(command).join(' ')}' ;;`);
  const names = program.commands.map((command) => command.name());
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_mortise() {',
    `  local words='${names.join(' ')} --help'`,
    '  [ "$COMP_CWORD" -gt 1 ] && case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _mortise mortise',
  ].join('\n');
}

function toFish(program: Command): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return program.commands
    .flatMap((command) => [
      `complete -c mortise -n __fish_use_subcommand -a ${command.name()} -d ${quote(command.description())}`,
      ...command.options.map(
        ({ long, description }) =>
          `complete -c mortise -n '__fish_seen_subcommand_from ${command.name()}' -l ${(long ?? '').slice(2)} -d ${quote(description)}`,
      ),
    ])
    .join('\n');
}
