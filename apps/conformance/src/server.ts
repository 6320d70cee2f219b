/** Serves the everything server: `node dist/server.js --port 3001`. */

import { MemoryEventStore } from '@mortise/protocol/edge';
import { HttpOptionError } from '@mortise/transport-http';
import { serveHttp } from '@mortise/transport-http/node';
import { InvalidArgumentError, program } from 'commander';
import { createEverythingServer } from './server/everything-server.ts';

const flags = program
  .name('node apps/conformance/dist/server.js')
  .description('Serves the everything server over HTTP at /mcp, on this machine alone, and prints its URL.')
  .option('--port <n>', 'the port to listen on, 0 for any that is free', parsePort, 3001)
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
  // A port that is taken.
  if (!(error instanceof HttpOptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** A port that a person typed; 0 takes any that is free. */
function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535');
  return Number(text);
}
