/** Serves the everything server: `node dist/server.js --port 3001`. */

import { MemoryEventStore } from '@mortise/protocol/edge';
import { HttpOptionError } from '@mortise/transport-http';
import { ListenError, serveHttp } from '@mortise/transport-http/node';
import { readFlags } from './read-flags.ts';
import { createEverythingServer } from './server/everything-server.ts';

const flags = readFlags(
  `Usage: node apps/conformance/dist/server.js [--port N]

Serves the everything server over HTTP at /mcp, on this machine alone, and prints its URL.

  --port N    the port to listen on, 0 for any that is free (default 3001)

Example: node apps/conformance/dist/server.js --port 3002
`,
  { port: { type: 'string', default: '3001' } },
);

try {
  // The event store makes legacy streams resumable, which the polling scenarios are about.
  const { url } = await serveHttp(createEverythingServer(), { port: Number(flags.port), eventStore: new MemoryEventStore() });
  process.stdout.write(`${url}\n`);
} catch (error) {
  // A port that is taken, or is none.
  if (!(error instanceof ListenError || error instanceof HttpOptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
