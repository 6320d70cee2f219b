/** Serves the everything server: `node dist/server.js --port 3001`. */

import { parseArgs } from 'node:util';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { serveHttp } from '@mortise/transport-http/node';
import { createEverythingServer } from './server/everything-server.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '3001' } } });

// The event store makes legacy streams resumable, which the polling scenarios are about.
const { url } = await serveHttp(createEverythingServer(), { port: Number(values.port), eventStore: new MemoryEventStore() });
process.stdout.write(`${url}\n`);
