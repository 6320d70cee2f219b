import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type PendingRequest, type RequestOptions, RequestTable, type RequestTableOptions } from '../../src/connection.ts';
import { type ClockTimer, InvalidResponseError, type JsonRpcRequest, type JsonRpcResponse, TimeoutError } from '../../src/index.ts';
import { systemClock } from '../../src/transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Deferred, defer, outcomeOf, result, turn } from '../support/raw-peer.ts';

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

const DEFAULTS = {
  sendCancelled: () => undefined,
  onError: () => undefined,
  timeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  clock: systemClock,
};

/** Sends by exchanges, whose answers the test gives. */
function exchanging(options: Pick<Partial<RequestTableOptions>, 'clock' | 'onMessage'> = {}): {
  table: RequestTable;
  sent: { request: JsonRpcRequest; pending: PendingRequest; answer: Deferred<JsonRpcResponse> }[];
} {
  const sent: { request: JsonRpcRequest; pending: PendingRequest; answer: Deferred<JsonRpcResponse> }[] = [];
  const table = new RequestTable({
    ...DEFAULTS,
    send: (request, pending) => {
      const answer = defer<JsonRpcResponse>();
      sent.push({ request, pending, answer });
      return answer.promise;
    },
    ...options,
  });
  return { table, sent };
}

describe('a table of exchanges', () => {
  it('settles each request by the response that its exchange resolves to', async () => {
    const { table, sent } = exchanging();
    const answers = [outcomeOf(table.request('a')), outcomeOf(table.requestRaw('b'))];
    const error = { code: -1, message: 'no' };
    sent[1]?.answer.resolve({ jsonrpc: '2.0', id: 2, error });
    sent[0]?.answer.resolve(result(1, { ok: true }));
    expect(await Promise.all(answers)).toEqual([{ value: { ok: true } }, { value: { jsonrpc: '2.0', id: 2, error } }]);
    expect(table.size).toBe(0);
  });

  it('rejects with the failure of the exchange, and with a response to another request', async () => {
    const { table, sent } = exchanging();
    const answers = [table.request('a'), table.request('b')].map(outcomeOf);
    const broken = new Error('broken');
    sent[0]?.answer.reject(broken);
    sent[1]?.answer.resolve(result(1));
    expect(await Promise.all(answers)).toEqual([{ error: broken }, { error: expect.any(InvalidResponseError) as unknown }]);
  });

  it('aborts an exchange that nobody waits for, by its signal and without one, and sends no cancellation', async () => {
    const { table, sent } = exchanging();
    const controller = new AbortController();
    const answers = [1, 2].map(() => outcomeOf(table.request('a', {}, { signal: controller.signal })));
    const reasons: unknown[] = [];
    sent[0]?.pending.onAbort((reason) => reasons.push(reason));
    const signal = sent[1]?.pending.signal;
    controller.abort('enough');
    sent[1]?.pending.onAbort((reason) => reasons.push(reason));
    expect([reasons, signal?.reason, sent[0]?.pending.isCancelled]).toEqual([['enough', 'enough'], 'enough', true]);
    expect(await Promise.all(answers)).toEqual([{ error: 'enough' }, { error: 'enough' }]);
    sent[0]?.answer.resolve(result(1));
  });

  it('takes notifications of an exchange until it is settled, and starts the time anew with its own progress alone', async () => {
    const clock = new FakeClock();
    const [heard, progress] = [[] as string[], [] as unknown[]];
    const { table, sent } = exchanging({ clock, onMessage: ({ method }, { id }) => heard.push(`${method} ${id}`) });
    const answer = outcomeOf(table.request('a', {}, { timeoutMs: 100, onProgress: (params) => progress.push(params['progress']) }));
    const { pending } = sent[0] ?? expect.fail();
    const tell = (progressToken: number): void =>
      pending.onMessage({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
    clock.advance(90);
    tell(1);
    clock.advance(90);
    tell(2);
    clock.advance(10);
    expect(await answer).toEqual({ error: expect.any(TimeoutError) as unknown });
    tell(1);
    expect([heard, progress]).toEqual([['notifications/progress 1', 'notifications/progress 1'], [1]]);
  });

  it('gives the transport the headers of the request', () => {
    const { table, sent } = exchanging();
    void outcomeOf(table.request('a', {}, { headers: { 'x-a': '1' } }));
    expect(sent[0]?.pending.headers).toEqual({ 'x-a': '1' });
  });

  it('aborts every exchange with the error of failAll, and goes on', async () => {
    const { table, sent } = exchanging();
    const answers = [table.request('a'), table.request('b')].map(outcomeOf);
    const closed = new Error('closed');
    table.failAll(closed);
    expect(sent.map(({ pending }) => pending.reason)).toEqual([closed, closed]);
    expect(await Promise.all(answers)).toEqual([{ error: closed }, { error: closed }]);
    const next = table.request('c');
    sent[2]?.answer.resolve(result(3));
    expect(await next).toEqual({});
  });
});

describe('a table whose answers come by other ways', () => {
  it('has ids of its own making, and tells both the sender and the canceller what the caller gave', async () => {
    const told: unknown[] = [];
    let ids = 0;
    const table = new RequestTable<RequestOptions & { readonly via: string }>({
      ...DEFAULTS,
      send: ({ id }, { options }) => void told.push(['request', id, options?.via]),
      sendCancelled: (params, { options }) => told.push(['cancelled', params, options?.via]),
      newId: () => `id-${++ids}`,
    });
    const controller = new AbortController();
    const answer = outcomeOf(table.request('a', {}, { via: 'get', signal: controller.signal }));
    const other = table.request('b', {}, { via: 'post' });
    controller.abort('enough');
    expect(table.settle(result('id-2'))).toBe(true);
    expect(table.settle(result('id-3'))).toBe(false);
    expect([await answer, await other]).toEqual([{ error: 'enough' }, {}]);
    expect(told).toEqual([
      ['request', 'id-1', 'get'],
      ['request', 'id-2', 'post'],
      ['cancelled', { requestId: 'id-1', reason: 'enough' }, 'get'],
    ]);
  });
});

describe('the time of the requests in a table', () => {
  it('ends for each in its turn, and for one that came on in its new turn', async () => {
    const clock = new FakeClock();
    const startMs = clock.monotonicMs();
    const { table } = exchanging({ clock });
    const endedMs = [50, 10, 20, Infinity].map((timeoutMs, at, all) => {
      table.request('x', {}, { timeoutMs, maxTimeoutMs: Infinity }).catch(() => (all[at] = clock.monotonicMs() - startMs));
      return all;
    })[0];
    for (let ms = 0; ms < 100; ms += 1) {
      clock.advance(1);
      if (ms === 18) table.progress({ progressToken: 3, progress: 1 });
      await turn();
    }
    expect(endedMs).toEqual([50, 10, 39, Infinity]);
  });

  it('is lengthened by exactly what each lost, by whichever pauses', async () => {
    const clock = new FakeClock();
    const { table, sent } = exchanging({ clock });
    const startMs = clock.monotonicMs();
    const endedMs: number[] = [];
    const open = (at: number): void =>
      void table.request('x', {}, { timeoutMs: 100 }).catch(() => (endedMs[at] = clock.monotonicMs() - startMs));
    [0, 1, 2].forEach(open);
    const resumeAlone = sent[1]?.pending.pauseTimeout();
    const resumeBoth = sent[2]?.pending.pauseTimeout();
    clock.advance(10);
    const resumeAll = table.pauseTimeouts();
    clock.advance(20);
    resumeBoth?.();
    resumeBoth?.();
    clock.advance(5);
    open(3);
    clock.advance(500);
    resumeAll();
    resumeAll();
    clock.advance(5);
    resumeAlone?.();
    for (let ms = 0; ms < 200; ms += 1) {
      clock.advance(1);
      await turn();
    }
    expect(endedMs).toEqual([100 + 525, 100 + 540, 100 + 535, 100 + 535]);
    expect(clock.timerCount).toBe(0);
  });

  it('sets no timer for a request that is settled before its pause is over', () => {
    const clock = new FakeClock();
    const { table, sent } = exchanging({ clock });
    void outcomeOf(table.request('x', {}, { timeoutMs: 100 }));
    const resume = sent[0]?.pending.pauseTimeout();
    clock.advance(200);
    table.settle(result(1));
    resume?.();
    expect(clock.timerCount).toBe(0);
  });

  it('stops a timer that cannot be released when no request waits', () => {
    const clock = new FakeClock();
    const { table } = exchanging({ clock });
    void outcomeOf(table.request('x'));
    expect(clock.timerCount).toBe(1);
    table.settle(result(1));
    expect(clock.timerCount).toBe(0);
  });

  it('needs one timer for requests of equal length, which is released between them', () => {
    const told: string[] = [];
    const schedule = (): ClockTimer & { hold(): void; release(): void } => {
      told.push('set');
      return { cancel: () => told.push('cancel'), hold: () => told.push('hold'), release: () => told.push('release') };
    };
    const { table } = exchanging({ clock: { now: () => 0, monotonicMs: () => 0, schedule } });
    for (let round = 0; round < 2; round += 1) {
      for (const method of ['a', 'b']) void outcomeOf(table.request(method));
      for (const at of [1, 2]) table.settle(result(2 * round + at));
    }
    table.failAll(new Error('end'));
    expect(told).toEqual(['set', 'release', 'hold', 'release', 'cancel']);
  });
});
