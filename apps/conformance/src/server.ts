/** Serves the everything server: `node dist/server.js --port 3001`. */

import { MemoryEventStore } from '@mortise/protocol/edge';
import { HttpOptionError } from '@mortise/transport-http';
import { ListenError, serveHttp } from '@mortise/transport-http/node';
import { program } from 'commander';
import { createEverythingServer } from './server/everything-server.ts';

const flags = program
  .name('node apps/conformance/dist/server.js')
  .description('Serves the everything server over HTTP at /mcp, on this machine alone, and prints its URL.')
  .option('--port <n>', 'the port to listen on, 0 for any that is free', Number, 3001)
  .addHelpText('after', '\nExample: node apps/conformance/dist/server.js --port 3002')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --port, --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ port: number }>();

try {
  // The event store makes legacy streams resumable, which the polling scenarios are about.
  const { url } = await serveHttp(createEverythingServer(), { port: flags.port, eventStore: new MemoryEventStore() });
  process.stdout.write(`${url}\n`);
} catch (error) {
  // A port that is taken, or is none.
  if (!(error instanceof ListenError || error instanceof HttpOptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
