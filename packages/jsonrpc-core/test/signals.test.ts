import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { TimeoutError } from '../src/index.ts';
import { abortable, linkSignals, withTimeout } from '../src/connection.ts';
import { FakeClock } from './support/fake-clock.ts';
import { defer, outcomeOf, turn } from './support/raw-peer.ts';

function countListeners(...controllers: readonly AbortController[]): number {
  return controllers.reduce((sum, { signal }) => sum + getEventListeners(signal, 'abort').length, 0);
}

describe('linkSignals', () => {
  it('aborts with the first one, for its reason, and lets go of the others', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(one.signal, undefined, other.signal);
    other.abort('enough');
    expect(countListeners(one, other)).toBe(0);
    one.abort('late');
    expect(signal.reason).toBe('enough');
  });

  it('is aborted from the start if one of them is', () => {
    const one = new AbortController();
    expect(linkSignals(one.signal, AbortSignal.abort('before')).signal.reason).toBe('before');
    expect(countListeners(one)).toBe(0);
  });

  it('lets go when it is disposed of', () => {
    const one = new AbortController();
    const { signal, dispose } = linkSignals(one.signal);
    dispose();
    dispose();
    one.abort();
    expect(signal.aborted).toBe(false);
    expect(countListeners(one)).toBe(0);
  });
});

describe('withTimeout', () => {
  it('aborts after the time with a TimeoutError', () => {
    const clock = new FakeClock();
    const { signal } = withTimeout(50, undefined, clock);
    clock.advance(49);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    expect(signal.reason).toBeInstanceOf(TimeoutError);
    expect(signal.reason).toMatchObject({ timeoutMs: 50 });
  });

  it('aborts with the other signal and leaves no timer', () => {
    const clock = new FakeClock();
    const other = new AbortController();
    const { signal } = withTimeout(50, other.signal, clock);
    other.abort('enough');
    expect(signal.reason).toBe('enough');
    expect(clock.timerCount).toBe(0);
    expect(countListeners(other)).toBe(0);
    expect(withTimeout(50, other.signal, clock).signal.reason).toBe('enough');
    expect(clock.timerCount).toBe(0);
  });

  it('leaves nothing behind when it is disposed of', () => {
    const clock = new FakeClock();
    const other = new AbortController();
    const { signal, dispose } = withTimeout(50, other.signal, clock);
    dispose();
    clock.advance(100);
    expect([signal.aborted, clock.timerCount, countListeners(other)]).toEqual([false, 0, 0]);
  });
});

describe('abortable', () => {
  it('settles as the promise does and leaves no listener', async () => {
    const controller = new AbortController();
    expect(await abortable(Promise.resolve(1), controller.signal)).toBe(1);
    await expect(abortable(Promise.reject(new Error('a')), controller.signal)).rejects.toThrow('a');
    expect(await abortable(Promise.resolve(2), undefined)).toBe(2);
    expect(countListeners(controller)).toBe(0);
  });

  it('[ROBUSTNESS-5] rejects at the abort, and what the promise does then goes unheard', async () => {
    const controller = new AbortController();
    const late = defer<number>();
    const outcome = outcomeOf(abortable(late.promise, controller.signal));
    controller.abort('enough');
    expect(await outcome).toEqual({ error: 'enough' });
    late.reject(new Error('late'));
    await turn();
    await expect(abortable(new Promise(() => undefined), controller.signal)).rejects.toBe('enough');
  });
});
