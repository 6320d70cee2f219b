#!/usr/bin/env node
/** Starts an engine, machines, a balancer and clients, kills what it can, and exits with 0 when every promise was kept. */

import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, program } from 'commander';
import { Cluster } from './cluster.ts';
import { Driver, type Outage } from './driver.ts';
import { Engine, type EngineName } from './engine.ts';
import { plot, quantile } from './plot.ts';
import { Balancer } from './proxy.ts';

interface Flags {
  readonly engine: EngineName;
  readonly nodes: number;
  readonly seconds: number;
  readonly legacy: number;
  readonly modern: number;
  readonly pause: number;
  readonly killEvery: number;
  readonly cut: number;
  readonly patience: number;
  readonly plot?: string;
  readonly telemetry?: string;
  readonly cpu: boolean;
}

const flags = program
  .name('node apps/many-machines/dist/client.js')
  .description('Runs machines behind a balancer without affinity, and clients; kills machines and the engine; checks what was promised.')
  .addOption(new Option('--engine <name>', 'the engine').choices(['redis', 'postgres']).default('redis'))
  .option('--nodes <n>', 'machines', Number, 4)
  .option('--seconds <n>', 'how long machines are killed', Number, 60)
  .option('--legacy <n>', 'clients with a session (2025-11-25)', Number, 50)
  .option('--modern <n>', 'clients without one (2026-07-28)', Number, 50)
  .option('--pause <ms>', 'how long a client waits between two calls', Number, 5000)
  .option('--kill-every <s>', 'seconds between two kills, 0 for none', Number, 5)
  .option('--cut <s>', 'seconds without a network to the engine, 0 for no harm to the engine at all', Number, 20)
  .option('--patience <n>', 'multiplies all limits of time, on a machine that does other work too', Number, 1)
  .option('--plot <file>', 'writes what happened as SVG')
  .option('--telemetry <url>', 'an OpenTelemetry collector, which gets the traces and metrics of machines and clients')
  .option('--cpu', 'kills nothing, and prints what a call costs on 1, 2 and 4 machines, each with so many clients', false)
  .addHelpText(
    'after',
    '\nExample: node apps/many-machines/dist/client.js --engine redis --seconds 120 --legacy 500 --modern 500 --plot run.svg',
  )
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => {
      const names =
        '--engine, --nodes, --seconds, --legacy, --modern, --pause, --kill-every, --cut, --patience, --plot, --telemetry, --cpu, --help';
      write(reason.replace(/\.?\n$/, `; the flags are ${names}\n`));
    },
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<Flags>();

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Opens all, runs `body`, and leaves nothing running. */
async function withCluster(
  nodes: number,
  body: (cluster: Cluster, engine: Engine, balancer: Balancer, url: string) => Promise<void>,
): Promise<void> {
  const engine = new Engine(flags.engine);
  const balancer = new Balancer();
  await engine.open();
  const cluster = new Cluster(balancer, engine.url, flags.telemetry);
  try {
    await Promise.all(Array.from({ length: nodes }, () => cluster.start()));
    await body(cluster, engine, balancer, await balancer.listen());
  } finally {
    await cluster.close();
    balancer.close();
    await engine.close();
  }
}

async function harm(): Promise<void> {
  await withCluster(flags.nodes, async (cluster, engine, balancer, url) => {
    const outages: Outage[] = [];
    const killsMs: number[] = [];
    const { legacy, modern, pause: pauseMs, seconds, patience } = flags;
    const driver = new Driver({ url, balancer, legacy, modern, pauseMs, outages, patience, tracer: telemetry?.tracer });
    await driver.connect();
    print(`${legacy} legacy and ${modern} modern clients on ${flags.nodes} machines over ${flags.engine}`);
    const fromMs = performance.now();
    const isOver = (): boolean => performance.now() - fromMs > seconds * 1000;
    driver.start();
    const table = setInterval(() => printLine(driver, balancer, cluster, fromMs, killsMs.length), 5000);

    const killMachines = async (): Promise<void> => {
      while (flags.killEvery > 0 && !isOver()) {
        await sleep(flags.killEvery * 1000);
        killsMs.push(performance.now());
        await cluster.replaceOne(killsMs.length % 5 === 0 ? 'SIGTERM' : 'SIGKILL');
      }
    };
    const outage = async (end: () => Promise<void>): Promise<void> => {
      const each = { fromMs: performance.now(), toMs: Infinity };
      outages.push(each);
      await end();
      each.toMs = performance.now();
    };
    const harmEngine = async (): Promise<void> => {
      if (flags.cut === 0) return;
      await sleep((seconds * 1000) / 4);
      await outage(async () => {
        await engine.kill();
        await sleep(1000);
        await engine.start();
      });
      await sleep((seconds * 1000) / 4);
      await outage(async () => {
        engine.setNetwork('cut');
        await sleep(flags.cut * 1000);
        engine.setNetwork('mended');
      });
    };
    await Promise.all([killMachines(), harmEngine(), sleep(seconds * 1000)]);
    const toMs = performance.now();
    await driver.stop();
    clearInterval(table);
    if (flags.plot !== undefined) {
      const title = `${legacy} legacy and ${modern} modern clients, ${flags.nodes} machines, ${flags.engine}`;
      await writeFile(flags.plot, plot({ title, fromMs, toMs, samples: driver.samples, killsMs, outages }));
    }
    judge(driver, balancer, cluster, killsMs.length);
  });
}

let seen = 0;
function printLine(driver: Driver, { targets, lostSessions }: Balancer, { mostMiB }: Cluster, fromMs: number, kills: number): void {
  const recent = driver.samples.slice(seen);
  seen = driver.samples.length;
  const took = recent.map(({ tookMs }) => tookMs);
  const at = Math.round((performance.now() - fromMs) / 1000);
  print(
    `${at} s`.padStart(6) +
      ` ${targets.length} machines, ${kills} kills; ${recent.length} calls, ${recent.filter(({ isOk }) => !isOk).length} failed, ` +
      `median ${quantile(took, 0.5).toFixed(0)} ms, 99 of 100 ${quantile(took, 0.99).toFixed(0)} ms; ` +
      `${driver.openTasks} tasks open; ${lostSessions} sessions lost; ${mostMiB.toFixed(0)} MiB`,
  );
}

function judge(driver: Driver, { lostSessions, errors: balancerErrors }: Balancer, cluster: Cluster, kills: number): void {
  const { counts, broken } = driver;
  print(`\nmachines ended: ${kills}; sessions lost: ${lostSessions}`);
  print(
    `calls: ${counts.calls}, of which ${counts.failedByDeath} failed with their machine or the engine; questions answered: ${counts.questions}`,
  );
  print(`messages on streams: ${counts.messages}; streams that went on at another machine: ${counts.resumedStreams}`);
  print(`tasks: ${counts.tasks}, and ${counts.tasksNotBegun} that could not begin; steps begun again: ${cluster.stepsBegunAgain}`);
  print(`steps run although they were stored: ${cluster.repeatedSteps}`);
  print(`changes: ${counts.changes}; heard within 1 s: ${counts.told}; told to read again: ${counts.toldToReadAgain}`);
  print(`most memory of a machine: ${cluster.mostMiB.toFixed(0)} MiB`);
  for (const [error, times] of [...cluster.errors].toSorted(([, a], [, b]) => b - a).slice(0, 15))
    print(`  logged ${times} times: ${error}`);
  for (const [error, times] of balancerErrors) print(`  a connection to a machine broke ${times} times: ${error}`);
  const all = [
    ...broken,
    ...(lostSessions > 0 ? [`${lostSessions} requests named a session that was lost`] : []),
    ...(cluster.repeatedSteps > 0 ? [`${cluster.repeatedSteps} steps ran although they were stored`] : []),
  ];
  // Those first that are more than late.
  for (const sentence of all.toSorted((a, b) => Number(a.includes(' took ')) - Number(b.includes(' took '))).slice(0, 30))
    print(`  BROKEN: ${sentence}`);
  print(all.length === 0 ? 'Every promise was kept.' : `${all.length} promises were broken.`);
  if (all.length > 0) process.exitCode = 1;
}

/** What a call costs. Each machine has as many clients whatever their number, because a machine with little to do needs more time for a call. */
async function measure(): Promise<void> {
  for (const nodes of [1, 2, 4]) {
    await withCluster(nodes, async (cluster, _engine, balancer, url) => {
      const { seconds } = flags;
      const [legacy, modern] = [flags.legacy * nodes, flags.modern * nodes];
      const driver = new Driver({ url, balancer, legacy, modern, pauseMs: flags.pause, outages: [], isPlain: true });
      await driver.connect();
      driver.start();
      // Code is compiled, and each machine has opened each session.
      await sleep((seconds * 1000) / 2);
      const before = { calls: driver.counts.calls, cpuMs: cluster.cpuMs };
      await sleep(seconds * 1000);
      const [calls, cpuMs] = [driver.counts.calls - before.calls, cluster.cpuMs - before.cpuMs];
      await driver.stop();
      print(`${nodes} machines: ${(cpuMs / calls).toFixed(2)} ms of CPU a call (${calls} calls, ${(cpuMs / 1000).toFixed(1)} s of CPU)`);
      for (const sentence of driver.broken) print(`  BROKEN: ${sentence}`);
    });
  }
}

const telemetry =
  flags.telemetry === undefined ? undefined : (await import('./telemetry.ts')).startTelemetry(flags.telemetry, 'many-machines-clients');
await (flags.cpu ? measure() : harm());
await telemetry?.close();
