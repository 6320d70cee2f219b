/** The machines as child processes, which are killed and started again. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StepEvent } from './node.ts';
import type { Balancer, Target } from './proxy.ts';

interface Process extends Target {
  readonly child: ChildProcess;
  cpuMs: number;
}

interface Report {
  readonly port?: number;
  readonly step?: StepEvent;
  readonly error?: string;
  readonly data?: string;
  readonly cpuMs?: number;
  readonly rssMiB?: number;
  readonly isLeaving?: true;
}

export class Cluster {
  /** How often each error was logged. */
  readonly errors = new Map<string, number>();
  /** Steps that began after their value was stored. */
  repeatedSteps = 0;
  /** Steps that began more than once, because the machine died before the value was stored. */
  stepsBegunAgain = 0;
  /** The most memory that one machine had, in MiB. */
  mostMiB = 0;
  readonly #stored = new Map<string, string>();
  readonly #begun = new Set<string>();
  readonly #balancer: Balancer;
  readonly #args: readonly string[];
  readonly #processes = new Set<Process>();
  #endedCpuMs = 0;
  #isClosed = false;

  /** @param telemetry The URL of the collector that gets traces and metrics of all machines; undefined for none. */
  constructor(balancer: Balancer, engineUrl: string, telemetry?: string) {
    this.#balancer = balancer;
    this.#args = ['--engine', engineUrl, '--port', '0', ...(telemetry === undefined ? [] : ['--telemetry', telemetry])];
  }

  /** The CPU time of all machines, in milliseconds. */
  get cpuMs(): number {
    return [...this.#processes].reduce((sum, { cpuMs }) => sum + cpuMs, this.#endedCpuMs);
  }

  /** Starts a machine. Resolves when it serves. Where the engine is down it starts again until it can. */
  async start(): Promise<void> {
    const child = fork(fileURLToPath(new URL('server.js', import.meta.url)), this.#args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let process: Process | undefined;
    let said = '';
    child.stderr?.on('data', (bytes: Buffer) => (said = (said + String(bytes)).slice(-2000)));
    const ready = new Promise<void>((resolve) => {
      child.on('message', (report: Report) => {
        if (report.port !== undefined) {
          process = { child, port: report.port, cpuMs: 0 };
          this.#processes.add(process);
          this.#balancer.targets = [...this.#balancer.targets, process];
          resolve();
        }
        if (process) this.#onReport(process, report);
      });
    });
    const exited = once(child, 'exit').then(async ([code]) => {
      if (process) this.#remove(process);
      if (said !== '' && code !== 0 && code !== null) this.#count(`a machine ended: ${said.slice(-300)}`);
      if (!process && !this.#isClosed) await this.start();
    });
    await Promise.race([ready, exited]);
  }

  /** Kills a machine with -9, and starts another in its place. */
  async replaceOne(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const [victim] = this.#processes;
    if (victim === undefined) return;
    const exited = once(victim.child, 'exit');
    victim.child.kill(signal);
    await exited;
    await this.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      Array.from(this.#processes, async ({ child }) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }),
    );
  }

  #onReport(process: Process, { step, error, data, cpuMs, rssMiB = 0, isLeaving }: Report): void {
    if (step) this.#onStep(step);
    if (error !== undefined) this.#count(`${error} ${(data ?? '').slice(0, 120)}`);
    if (cpuMs !== undefined) process.cpuMs = cpuMs;
    this.mostMiB = Math.max(this.mostMiB, rssMiB);
    if (isLeaving) this.#balancer.targets = this.#balancer.targets.filter((target) => target !== process);
  }

  #onStep({ kind, step, value }: StepEvent): void {
    const stored = this.#stored.get(step);
    if (kind === 'stored') {
      if (stored !== undefined && stored !== value) this.repeatedSteps++;
      this.#stored.set(step, value);
    } else {
      if (stored !== undefined) this.repeatedSteps++;
      if (this.#begun.has(step)) this.stepsBegunAgain++;
      this.#begun.add(step);
    }
  }

  #remove(process: Process): void {
    process.diedAtMs = performance.now();
    this.#endedCpuMs += process.cpuMs;
    this.#processes.delete(process);
    this.#balancer.targets = this.#balancer.targets.filter((target) => target !== process);
  }

  #count(error: string): void {
    this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
  }
}
