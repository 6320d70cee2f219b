/** Every kit that the stores of an engine run. Used under vitest and, for other Nodes, under Node's own runner. */

import type { MessageBus } from '@mortise/protocol/contracts';
import type { SqliteStores } from '@mortise/store-sqlite';
import { type KitCase, type KitSetup, type KitSubject, setPatience, setShortLife } from '@mortise/transport-testkit';
import { eventStoreCases } from '@mortise/transport-testkit/event-store';
import { messageBusCases } from '@mortise/transport-testkit/message-bus';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { sessionStoreCases } from '@mortise/transport-testkit/session-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);
// Most engines have a clock of their own, so test cases wait, beside each other.
setShortLife(6000);

type DescribeKit = <Subject extends KitSubject, Options>(
  name: string,
  cases: readonly KitCase<Subject, Options>[],
  setup: KitSetup<Subject, Options>,
) => void;

/** Stores of any engine; those of SQLite have no bus. */
interface Stores extends Omit<SqliteStores, keyof AsyncDisposable | 'close'> {
  readonly bus?: MessageBus;
}

/** Two openings of the same stores, as two machines or processes would have them. */
interface Opened {
  readonly one: Stores;
  readonly other: Stores;
  /** How `one` is cut off from the engine. */
  readonly line?: { cut(): void; mend(): void };
  /** Closes `one`, and opens the stores as the next process would. For the trait `reopens`. */
  readonly reopen?: () => Promise<Stores>;
  /** Lets time pass for the stores. Without it, test cases wait. */
  readonly pass?: (ms: number) => void;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** A name that no other test case has. */
  readonly name: string;
  readonly events: { readonly maxEventsPerStream: number; readonly maxAgeMs: number };
}

const MAX_EVENTS = 100;
let count = 0;

/** Runs the kits. @param open Opens stores that no other test case sees. @param traits With `gaps` or `bounded` or others of the kits. */
export function runEveryKit(
  describeKit: DescribeKit,
  open: (options: OpenOptions) => Promise<Opened>,
  traits: Readonly<Record<string, boolean>>,
): void {
  /** Makes the subject of a kit from stores. */
  const create =
    <Store, OtherStore>(choose: (stores: Stores) => Store, more: (opened: Opened) => OtherStore, maxAgeMs = 3_600_000) =>
    async () => {
      const opened = await open({ name: `test_${process.pid}_${count++}`, events: { maxEventsPerStream: MAX_EVENTS, maxAgeMs } });
      const { one, other, pass, close } = opened;
      return { store: choose(one), other: choose(other), ...(pass && { pass }), close, ...more(opened) };
    };
  const nothing = (): object => ({});

  if (traits['bus'])
    describeKit('the message bus', messageBusCases, {
      traits: { shared: true, ...traits },
      create: create(nothing, ({ one, other, line }) => ({
        bus: busOf(one),
        other: busOf(other),
        cut: async () => line?.cut(),
        mend: async () => line?.mend(),
      })),
    });
  const tasks = create(
    ({ tasks: store }) => store,
    ({ reopen }) => (reopen === undefined ? {} : { reopen: async () => (await reopen()).tasks }),
  );
  describeKit('the task store', taskStoreCases, { traits: { shared: true, ...traits }, create: tasks });
  describeKit('the session store', sessionStoreCases, { create: create(({ sessions }) => sessions, nothing) });
  const ofAge = eventStoreCases.filter(({ needs }) => needs?.includes('maxAge'));
  const ofNoAge = eventStoreCases.filter((each) => !ofAge.includes(each));
  describeKit('the event store', ofNoAge, {
    traits: { shared: true, claims: true, maxEvents: true },
    create: create(
      ({ events }) => events,
      () => ({ maxEvents: MAX_EVENTS }),
    ),
  });
  // An engine drops what has expired by its own clock, and says nothing when it does: there is no event to wait for.
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
  describeKit('the event store, with a short memory', ofAge, {
    traits: { maxAge: true },
    create: create(
      ({ events }) => events,
      ({ pass = wait }) => ({ age: () => pass(1050) }),
      1000,
    ),
  });
  describeKit('the state store', stateStoreCases, { create: create(({ states }) => states, nothing) });
  const replays = create(({ replays: store }) => store, nothing);
  describeKit('the replay store', replayStoreCases, { traits: { shared: true }, create: replays });
  describeKit('the store of task ids', taskHandleStoreCases, { create: create(({ taskHandles }) => taskHandles, nothing) });
}

function busOf({ bus }: Stores): MessageBus {
  if (bus === undefined) throw new Error('these stores have no bus');
  return bus;
}
