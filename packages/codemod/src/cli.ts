/** `npx @mortise/codemod v1|v2 <folder>`: rewrites imports and `package.json`, and lists what is left. */

import { statSync } from 'node:fs';
import { Argument, Command } from 'commander';
import { type Left, migrate, type Migration } from './migrate.ts';

/**
 * Runs the command.
 *
 * @param args What stands behind the command's name.
 */
export async function main(args: readonly string[]): Promise<void> {
  await new Command()
    .name('npx @mortise/codemod')
    .description('Moves a program from the official MCP SDK to Mortise: its imports and package.json. Lists every place that is left.')
    .addArgument(new Argument('<version>', 'the version of the official SDK that the program uses').choices(['v1', 'v2']))
    .argument('<folder>', 'the folder of the program; node_modules, dist and hidden folders in it are skipped')
    .option('--native', "v1 only: onto Mortise's own API where that is sure, instead of @mortise/compat-v1", false)
    .option('--dry-run', 'show the change as a unified diff, and write nothing', false)
    .addHelpText('after', '\nExit code: 0 if nothing is left to do by hand, 1 if something is, 2 if it could not run.')
    .addHelpText('after', '\nExample: npx @mortise/codemod v1 . --dry-run')
    .showSuggestionAfterError(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(run)
    .parseAsync(args, { from: 'user' });
}

async function run(from: 'v1' | 'v2', folder: string, flags: { native: boolean; dryRun: boolean }): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return refuse(`"${folder}" is not a folder`);
  if (from === 'v2' && flags.native) return refuse("--native is for v1 only: v2 always moves onto Mortise's own API");
  try {
    const migration = await migrate(folder, { from, native: flags.native, dryRun: flags.dryRun });
    if (flags.dryRun) process.stdout.write(migration.diff);
    report(migration, flags.dryRun);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(reason: string): void {
  process.stderr.write(`error: ${reason}\n`);
  process.exitCode = 2;
}

const GUIDE = 'https://github.com/mortise/mortise/blob/main/docs/how-to/migrate-from-the-official-sdk.md';

function report({ changed, left }: Migration, isDryRun: boolean): void {
  const lines = [`${isDryRun ? 'Would change' : 'Changed'} ${count(changed.length, 'file')}.`];
  if (!isDryRun) lines.push(...changed.map((file) => `  ${file}`));
  if (changed.includes('package.json') && !isDryRun) lines.push('Now install: npm install');
  const show = ({ file, line, what }: Left): string => `  ${file}:${line}  ${what}`;
  const [stays, places] = [left.filter(({ isStay }) => isStay), left.filter(({ isStay }) => !isStay)];
  if (left.length === 0) lines.push('Nothing is left to do by hand.');
  if (places.length > 0) lines.push(`Left to do by hand, ${count(places.length, 'place')}:`, ...places.map(show));
  if (stays.length > 0) lines.push('Names that stay where they are:', ...stays.map(show));
  if (left.length > 0) lines.push(`The guide: ${GUIDE}`);
  // The diff has standard output for itself.
  (isDryRun ? process.stderr : process.stdout).write(`${lines.join('\n')}\n`);
  process.exitCode = left.length === 0 ? 0 : 1;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
