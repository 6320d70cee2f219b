#!/usr/bin/env node
/** Serves the calculator: `node dist/server.js --port 3000`, and `--no-sessions`, `--origin https://app.example`, `--sse` as wanted. */

import { HttpOptionError } from '@mortise/transport-http';
import { ListenError, serveHttp } from '@mortise/transport-http/node';
import { createCalculator } from './calculator.ts';
import { readFlags } from './read-flags.ts';

const flags = readFlags(
  `Usage: node apps/http-calculator/dist/server.js [flags]

Serves a calculator over HTTP at /mcp, on this machine alone, and prints its URL.

  --port N           the port to listen on, 0 for any that is free (default 3000)
  --no-sessions      serve each request of older clients by itself, without a session (default: with sessions)
  --origin ORIGIN    let pages of this origin call from a browser; may be given more than once (default: pages on this machine alone)
  --sse              also serve HTTP+SSE, for clients of 2024-11-05, at /sse (default: not)

Example: node apps/http-calculator/dist/server.js --port 3001 --origin https://app.example
`,
  {
    port: { type: 'string', default: '3000' },
    sessions: { type: 'boolean', default: true },
    origin: { type: 'string', multiple: true, default: [] },
    sse: { type: 'boolean', default: false },
  },
);

try {
  const serving = await serveHttp(createCalculator(), {
    port: Number(flags.port),
    sessions: flags.sessions,
    // The two endpoints of the oldest revision, for clients that know nothing newer.
    sse: flags.sse,
    // Pages of these origins may call from a browser; those on this machine always may.
    allowedOrigins: flags.origin,
  });
  process.stdout.write(`${serving.url}\n`);
  process.once('SIGINT', () => void serving.close());
  process.once('SIGTERM', () => void serving.close());
} catch (error) {
  // A port that is taken, or is none.
  if (!(error instanceof ListenError || error instanceof HttpOptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
