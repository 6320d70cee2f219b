import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Cancellation } from '@mortise/jsonrpc-core/transport';

describe('Cancellation', () => {
  it('aborts its signal with the reason of the first cancel', () => {
    const cancellation = new Cancellation();
    const { signal } = cancellation;
    expect([cancellation.isCancelled, signal.aborted]).toEqual([false, false]);
    const reason = new Error('gone');
    cancellation.cancel(reason);
    cancellation.cancel(new Error('again'));
    expect([cancellation.isCancelled, cancellation.reason, signal.aborted, signal.reason]).toEqual([true, reason, true, reason]);
  });

  it('gives a signal that is first read after the cancel', () => {
    const cancellation = new Cancellation();
    cancellation.cancel('late');
    expect(cancellation.signal.aborted).toBe(true);
    expect(cancellation.signal.reason).toBe('late');
    expect(cancellation.signal).toBe(cancellation.signal);
  });

  it('follows several signals until one aborts, and leaves no listener behind', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const cancellation = new Cancellation();
    cancellation.follow(first.signal);
    cancellation.follow(second.signal);
    cancellation.follow(second.signal);
    second.abort('second');
    expect(cancellation.reason).toBe('second');
    expect(getEventListeners(first.signal, 'abort')).toEqual([]);
  });

  it('is cancelled at once by a signal that has aborted', () => {
    const cancellation = new Cancellation();
    cancellation.follow(AbortSignal.abort('before'));
    expect(cancellation.reason).toBe('before');
  });

  it('stops following when it is released', () => {
    const controller = new AbortController();
    const cancellation = new Cancellation();
    cancellation.follow(controller.signal);
    cancellation.release();
    cancellation.release();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(cancellation.isCancelled).toBe(false);
    cancellation.follow(controller.signal);
    expect(cancellation.isCancelled).toBe(true);
  });

  it('can be extended, and what it follows calls the cancel of the subclass', () => {
    const reasons: unknown[] = [];
    class Call extends Cancellation {
      override cancel(reason: unknown): void {
        super.cancel(reason);
        reasons.push(reason);
      }
    }
    const controller = new AbortController();
    const call = new Call();
    call.follow(controller.signal);
    controller.abort('left');
    expect([call.isCancelled, reasons]).toEqual([true, ['left']]);
  });
});
