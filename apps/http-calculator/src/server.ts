#!/usr/bin/env node
/** Serves the calculator: `node dist/server.js --port 3000`, and `--no-sessions`, `--origin https://app.example`, `--sse` as wanted. */

import { parseArgs } from 'node:util';
import { serveHttp } from '@mortise/transport-http/node';
import { createCalculator } from './calculator.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    port: { type: 'string', default: '3000' },
    sessions: { type: 'boolean', default: true },
    sse: { type: 'boolean', default: false },
    origin: { type: 'string', multiple: true, default: [] },
  },
});

const serving = await serveHttp(createCalculator(), {
  port: Number(values.port),
  sessions: values.sessions,
  // The two endpoints of the oldest revision, for clients that know nothing newer.
  sse: values.sse,
  // Pages of these origins may call from a browser; those on this machine always may.
  allowedOrigins: values.origin,
});
process.stdout.write(`${serving.url}\n`);
process.once('SIGINT', () => void serving.close());
process.once('SIGTERM', () => void serving.close());
