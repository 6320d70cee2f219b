#!/usr/bin/env node
/** Serves the calculator: `node dist/server.js --port 3000`, and `--no-sessions`, `--origin https://app.example`, `--sse` as wanted. */

import { HttpOptionError } from '@mortise/transport-http';
import { serveHttp } from '@mortise/transport-http/node';
import { InvalidArgumentError, Option, program } from 'commander';
import { createCalculator } from './calculator.ts';

const flags = program
  .name('node apps/http-calculator/dist/server.js')
  .description('Serves a calculator over HTTP at /mcp, on this machine alone, and prints its URL.')
  .option('--port <n>', 'the port to listen on, 0 for any that is free', parsePort, 3000)
  .option('--no-sessions', 'serve each request of older clients by itself, without a session (default: with sessions)')
  .addOption(
    new Option('--origin <origin>', 'let pages of this origin call from a browser; may be given more than once')
      .argParser((origin, before: readonly string[]) => [...before, origin])
      .default([], 'pages on this machine alone'),
  )
  .option('--sse', 'also serve HTTP+SSE, for clients of 2024-11-05, at /sse', false)
  .addHelpText('after', '\nExample: node apps/http-calculator/dist/server.js --port 3001 --origin https://app.example')
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --port, --no-sessions, --origin, --sse, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ port: number; sessions: boolean; origin: readonly string[]; sse: boolean }>();

try {
  const serving = await serveHttp(createCalculator(), {
    port: flags.port,
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
  // A port that is taken, or an origin that is none.
  if (!(error instanceof HttpOptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** A port that a person typed; 0 takes any that is free. */
function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535');
  return Number(text);
}
