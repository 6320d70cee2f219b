/** The server as a program of its own, for stdio. */

import { serveStdio } from '@mortise/transport-stdio/server';
import { createTripServer } from './trip-server.ts';

// A host gives it no arguments, and then does not wait for the parser of them.
if (process.argv.length > 2) {
  const { program } = await import('commander');
  program
    .name('node apps/ask-the-user/dist/server.js')
    .description('Serves the trip planner over stdio: a host starts it and speaks to it through its input and output.')
    .addHelpText('after', '\nExample: npx @modelcontextprotocol/inspector node apps/ask-the-user/dist/server.js')
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse();
}

await serveStdio(createTripServer());
