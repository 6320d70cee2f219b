/** Reads a program's command line: `--help` is answered, and what is not understood is one line and exit code 2. Each app stands by itself and has this file. */

import { parseArgs, type ParseArgsConfig } from 'node:util';

type Flags = NonNullable<ParseArgsConfig['options']>;

/**
 * Gives the values of the flags. Ends the process with 0 where help is asked for, and with 2 where a flag is unknown or has no value.
 *
 * @param usage What `--help` prints.
 */
export function readFlags<F extends Flags>(usage: string, flags: F): ReturnType<typeof parseArgs<{ options: F }>>['values'] {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return parseArgs<{ options: F; allowNegative: true }>({ options: flags, allowNegative: true }).values;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('. ')[0];
    const known = Object.entries(flags).map(([name, { default: value }]) => (value === true ? `--no-${name}` : `--${name}`));
    process.stderr.write(`${reason}; the flags are ${[...known, '--help'].join(', ')}\n`);
    process.exit(2);
  }
}
