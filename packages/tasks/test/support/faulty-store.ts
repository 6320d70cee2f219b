/** A store of tasks that fails, or is slow, when a test wants it to. */

import type { TaskStore } from '@mortise/protocol/contracts';
import type { MemoryTaskStore } from '@mortise/tasks';

export interface FaultyStore {
  readonly store: MemoryTaskStore;
  /** Each call is asked before it is made; what it throws the call rejects with, and what it gives is waited for. */
  before: (member: keyof TaskStore, args: readonly unknown[]) => unknown;
  /** What each answer waits for after the call was made. */
  after: FaultyStore['before'];
}

/** Stands in front of a store, which keeps what gets through. */
export function toFaultyStore(real: MemoryTaskStore): FaultyStore {
  const faulty: FaultyStore = {
    before: () => undefined,
    after: () => undefined,
    store: new Proxy(real, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]): Promise<unknown> => {
          await faulty.before(key as keyof TaskStore, args);
          const answer: unknown = await member.apply(target, args);
          await faulty.after(key as keyof TaskStore, args);
          return answer;
        };
      },
    }),
  };
  return faulty;
}
