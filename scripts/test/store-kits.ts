/** Every kit that the stores of an engine for several machines run. */

import type { PostgresStores } from '@mortise/store-postgres';
import type { RedisStores } from '@mortise/store-redis';
import { setPatience, setShortLife } from '@mortise/transport-testkit';
import { eventStoreCases } from '@mortise/transport-testkit/event-store';
import { messageBusCases } from '@mortise/transport-testkit/message-bus';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { sessionStoreCases } from '@mortise/transport-testkit/session-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe } from 'vitest';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);
// An engine has a clock of its own, so test cases wait, beside each other.
setShortLife(6000);

type Stores = RedisStores | PostgresStores;

/** How `Opened.one` is cut off from the engine. */
interface Line {
  cut(): void;
  mend(): void;
}

/** Two openings of the same stores, as two machines would have them. */
interface Opened {
  readonly one: Stores;
  readonly other: Stores;
  readonly line?: Line;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** A name that no other test case has. */
  readonly name: string;
  readonly events: { readonly maxEventsPerStream: number; readonly maxAgeMs: number };
}

const MAX_EVENTS = 100;
let count = 0;

/** Runs the kits. @param open Opens stores that no other test case sees. */
export function runEveryKit(where: string, open: (options: OpenOptions) => Promise<Opened>, traits: object): void {
  const openTwice = (maxAgeMs = 3_600_000) =>
    open({ name: `test_${process.pid}_${count++}`, events: { maxEventsPerStream: MAX_EVENTS, maxAgeMs } });

  describe.concurrent(where, () => {
    describeKit('the message bus', messageBusCases, {
      traits: { shared: true, ...traits },
      async create() {
        const { one, other, line, close } = await openTwice();
        return { bus: one.bus, other: other.bus, cut: async () => line?.cut(), mend: async () => line?.mend(), close };
      },
    });
    describeKit('the task store', taskStoreCases, {
      traits: { shared: true, ...traits },
      async create() {
        const { one, other, close } = await openTwice();
        return { store: one.tasks, other: other.tasks, close };
      },
    });
    describeKit('the session store', sessionStoreCases, {
      async create() {
        const { one, close } = await openTwice();
        return { store: one.sessions, close };
      },
    });
    describeKit('the event store', eventStoreCases, {
      traits: { shared: true, claims: true, maxEvents: true },
      async create() {
        const { one, other, close } = await openTwice();
        return { store: one.events, other: other.events, maxEvents: MAX_EVENTS, close };
      },
    });
    const ofAge = eventStoreCases.filter(({ needs }) => needs?.includes('maxAge'));
    describeKit('the event store, with a short memory', ofAge, {
      traits: { maxAge: true },
      async create() {
        const { one, close } = await openTwice(1000);
        // The engine drops what has expired by its own clock, and says nothing when it does: there is no event to wait for.
        return { store: one.events, age: () => new Promise((resolve) => void setTimeout(resolve, 1050)), close };
      },
    });
    describeKit('the state store', stateStoreCases, {
      async create() {
        const { one, close } = await openTwice();
        return { store: one.states, close };
      },
    });
    describeKit('the replay store', replayStoreCases, {
      traits: { shared: true },
      async create() {
        const { one, other, close } = await openTwice();
        return { store: one.replays, other: other.replays, close };
      },
    });
    describeKit('the store of task ids', taskHandleStoreCases, {
      async create() {
        const { one, close } = await openTwice();
        return { store: one.taskHandles, close };
      },
    });
  });
}
