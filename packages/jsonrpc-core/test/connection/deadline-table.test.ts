import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DeadlineTable, TimeLimit } from '../../src/connection.ts';
import type { Clock, ClockTimer } from '../../src/index.ts';
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
  return execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60_000 });
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
      await connection.request('tools/list', {}, { timeoutMs: 1000 });
      await connection.request('tools/list', {}, { timeoutMs: 1100 }).catch((error) => console.log(error.code));`;
    expect(run(program).trim()).toBe('ERR_TIMEOUT');
  });
});

describe('DeadlineTable', () => {
  class Call extends TimeLimit {
    expiredAtMs: number | undefined;
    readonly #clock: Pick<Clock, 'monotonicMs'>;
    readonly #waiting: Set<Call>;
    constructor(timeoutMs: number, clock: Pick<Clock, 'monotonicMs'>, waiting: Set<Call>) {
      super({ timeoutMs, maxTimeoutMs: Infinity }, clock.monotonicMs());
      this.#clock = clock;
      this.#waiting = waiting.add(this);
    }
    protected onTimeout(): void {
      this.expiredAtMs = this.#clock.monotonicMs();
      this.#waiting.delete(this);
    }
  }

  it('expires each call in its time, one that was moved in its new time', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const startMs = clock.monotonicMs();
    const [late, soon, moved, never] = [50, 10, 20, Infinity].map((ms) => new Call(ms, clock, waiting));
    for (const call of waiting) table.add(call);
    moved?.restart(startMs + 20);
    clock.advance(100);
    expect([late, soon, moved, never].map((call) => call?.expiredAtMs)).toEqual([startMs + 50, startMs + 10, startMs + 40, undefined]);
  });

  it('lengthens each call by exactly what it lost, of whichever pauses', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const startMs = clock.monotonicMs();
    const [plain, alone, both] = [new Call(100, clock, waiting), new Call(100, clock, waiting), new Call(100, clock, waiting)];
    for (const call of waiting) table.add(call);
    const resumeAlone = table.pause(alone);
    const resumeBoth = table.pause(both);
    clock.advance(10);
    const resumeAll = table.pauseAll();
    clock.advance(20);
    resumeBoth();
    resumeBoth();
    clock.advance(5);
    const late = new Call(100, clock, waiting);
    table.add(late);
    clock.advance(500);
    resumeAll();
    resumeAll();
    clock.advance(5);
    resumeAlone();
    const readings = new Map([plain, alone, both, late].map((call) => [call, 0]));
    for (let ms = 0; ms < 200; ms += 1) clock.advance(1);
    for (const call of readings.keys()) readings.set(call, (call.expiredAtMs ?? Infinity) - startMs);
    expect([...readings.values()]).toEqual([100 + 525, 100 + 540, 100 + 535, 100 + 535]);
    expect(clock.timerCount).toBe(0);
  });

  it('sets no timer for a call that is over before its pause is', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const call = new Call(100, clock, waiting);
    table.add(call);
    const resume = table.pause(call);
    clock.advance(200);
    waiting.delete(call);
    table.delete(call);
    resume();
    expect(clock.timerCount).toBe(0);
  });

  it('stops a timer that cannot be released when no call waits', () => {
    const clock = new FakeClock();
    const waiting = new Set<Call>();
    const table = new DeadlineTable(clock, () => waiting);
    const call = new Call(10, clock, waiting);
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
    const clock = { now: () => 0, monotonicMs: () => 0, schedule };
    const table = new DeadlineTable(clock, () => waiting);
    for (let round = 0; round < 2; round += 1) {
      const calls = [new Call(10, clock, waiting), new Call(10, clock, waiting)];
      for (const call of calls) table.add(call);
      for (const call of calls) table.delete(call);
    }
    table.stop();
    expect(told).toEqual(['set', 'release', 'hold', 'release', 'cancel']);
  });
});
