#!/usr/bin/env node
/** One machine as a program: `node dist/server.js --engine redis://127.0.0.1:6379 --port 3000`. Behind the load balancer run several. */

import { program } from 'commander';
import { startMachine } from './node.ts';
import { openStores } from './stores.ts';

const flags = program
  .name('node apps/many-machines/dist/server.js')
  .description('Serves one machine of a cluster at /mcp, with /health for the load balancer. SIGTERM makes it leave the cluster.')
  .option('--engine <url>', 'the engine that all machines share', 'redis://127.0.0.1:6379')
  .option('--prefix <name>', 'names the cluster in the engine', 'many-machines')
  .option('--port <n>', 'the port to listen on, 0 for any that is free', Number, 3000)
  .option('--telemetry <to>', 'where traces and metrics go: the URL of an OpenTelemetry collector, or "console"')
  .addHelpText(
    'after',
    '\nThe secret that the machines share is in the environment variable CLUSTER_SECRET.' +
      '\nExample: CLUSTER_SECRET=... node apps/many-machines/dist/server.js --engine redis://127.0.0.1:6379 --port 3001',
  )
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --engine, --prefix, --port, --telemetry, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ engine: string; prefix: string; port: number; telemetry?: string }>();

const send = (message: object): void => void process.send?.(message);
// The packages of OpenTelemetry are loaded only for it.
const telemetry =
  flags.telemetry === undefined ? undefined : (await import('./telemetry.ts')).startTelemetry(flags.telemetry, 'many-machines');
const machine = await startMachine({
  stores: await openStores(flags.engine, flags.prefix),
  secret: process.env['CLUSTER_SECRET'] ?? 'only for a trial',
  port: flags.port,
  onStep: (step) => send({ step }),
  onError: (message, data) => send({ error: message, data: JSON.stringify(data) }),
  telemetry,
});
send({ port: machine.port });
if (process.send) {
  // The driver's own: what this machine has used.
  const report = (): void => {
    const { user, system } = process.cpuUsage();
    send({ cpuMs: (user + system) / 1000, rssMiB: process.memoryUsage().rss / 2 ** 20, counts: machine.handler.counts });
  };
  setInterval(report, 500).unref();
  process.on('disconnect', () => process.exit());
} else process.stdout.write(`http://127.0.0.1:${machine.port}/mcp\n`);

process.once('SIGTERM', () => {
  send({ isLeaving: true });
  void machine
    .leave()
    .then(() => telemetry?.close())
    .then(() => process.exit(0));
});
