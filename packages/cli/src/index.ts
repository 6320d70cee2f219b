/** The command line as a function, for programs that embed it. The command itself is `mortise`. */

export { ExitCode } from './errors.ts';
export { runCli } from './run-cli.ts';
export type { CliIo } from './terminal.ts';
