import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Deadline, DeadlineTable } from '../../src/connection.ts';
import type { ClockTimer } from '../../src/index.ts';
import { FakeClock } from '../support/fake-clock.ts';

const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

/** Runs a program in a process of its own; throws where it does not end by itself with 0. */
function run(program: string): string {
  const script = `import { createInMemoryPair } from ${source('index.ts')};
    import { Connection } from ${source('connection.ts')};
    const [here, there] = createInMemoryPair();
    const connection = new Connection(here);
    await connection.start();
    const answering = (answer) => { there.onmessage = (request) => answer && there.send({ jsonrpc: '2.0', id: request.id, result: {} }); return there.start(); };
    ${program}`;
  return execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { encoding: 'utf8', timeout: 20_000 });
}

describe('a process that lives for nothing but a call', () => {
  it('lives until the call times out', () => {
    const program = `await answering(false);
      await connection.request('tools/list', {}, { timeoutMs: 100 }).catch((error) => console.log(error.code));`;
    expect(run(program).trim()).toBe('ERR_TIMEOUT');
  });

  it('ends when its last call is answered, though the time of it is not over', () => {
    const program = `await answering(true);
      await connection.request('tools/list', {}, { timeoutMs: 600_000 });
      await connection.request('tools/list', {}, { timeoutMs: 600_000 });
      console.log('answered');`;
    expect(run(program).trim()).toBe('answered');
  });

  it('lives for a second call that waits on the timer of the first', () => {
    const program = `let calls = 0;
      there.onmessage = (request) => calls++ === 0 && there.send({ jsonrpc: '2.0', id: request.id, result: {} });
      await there.start();
      await connection.request('tools/list', {}, { timeoutMs: 200 });
      await connection.request('tools/list', {}, { timeoutMs: 300 }).catch((error) => console.log(error.code));`;
    expect(run(program).trim()).toBe('ERR_TIMEOUT');
  });
});

describe('DeadlineTable', () => {
  class Call implements Deadline {
    expiredAtMs: number | undefined;
    deadlineMs: number;
    readonly #waiting: Set<Call>;
    constructor(deadlineMs: number, waiting: Set<Call>) {
      this.deadlineMs = deadlineMs;
      this.#waiting = waiting.add(this);
    }
    expire(nowMs: number): void {
      this.expiredAtMs = nowMs;
      this.#waiting.delete(this);
    }
  }

  it('expires each call in its time, one that was moved in its new time', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const startMs = clock.monotonicMs();
    const [late, soon, moved, never] = [50, 10, 20, Infinity].map((ms) => new Call(startMs + ms, waiting));
    for (const call of waiting) table.add(call);
    if (moved) moved.deadlineMs = startMs + 40;
    clock.advance(100);
    expect([late, soon, moved, never].map((call) => call?.expiredAtMs)).toEqual([startMs + 50, startMs + 10, startMs + 40, undefined]);
  });

  it('stops a timer that cannot be released when no call waits', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const call = new Call(clock.monotonicMs() + 10, waiting);
    table.add(call);
    expect(clock.timerCount).toBe(1);
    table.delete(call);
    expect(clock.timerCount).toBe(0);
  });

  it('sets one timer for calls of equal length, and releases it between them', () => {
    const told: string[] = [];
    const schedule = (): ClockTimer & { hold(): void; release(): void } => {
      told.push('set');
      return { cancel: () => told.push('cancel'), hold: () => told.push('hold'), release: () => told.push('release') };
    };
    const waiting = new Set<Call>();
    const table = new DeadlineTable({ now: () => 0, monotonicMs: () => 0, schedule }, () => waiting);
    for (let round = 0; round < 2; round += 1) {
      const calls = [new Call(10, waiting), new Call(10, waiting)];
      for (const call of calls) table.add(call);
      for (const call of calls) table.delete(call);
    }
    table.stop();
    expect(told).toEqual(['set', 'release', 'hold', 'release', 'cancel']);
  });
});
