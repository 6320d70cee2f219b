/** The server as a program of its own, for the transport that needs one. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createCalculator } from './calculator.ts';

// A host gives it no arguments, and then does not wait for the parser of them.
if (process.argv.length > 2) {
  const { program } = await import('commander');
  program
    .name('node apps/swap-transport/dist/server.js')
    .description('Serves the calculator over stdio: a host starts it and speaks to it through its input and output.')
    .addHelpText('after', '\nExample: npx @modelcontextprotocol/inspector node apps/swap-transport/dist/server.js')
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse();
}

await serveStdio(createCalculator());
