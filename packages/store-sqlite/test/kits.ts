/** Every kit that the stores run, against one driver. Used under vitest and, on another Node, under Node's own runner. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSqliteStores, type SqliteDriverName, type SqliteStoresOptions } from '@mortise/store-sqlite';
import { type KitCase, type KitSetup, type KitSubject, setPatience } from '@mortise/transport-testkit';
import { eventStoreCases } from '@mortise/transport-testkit/event-store';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { sessionStoreCases } from '@mortise/transport-testkit/session-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);

type DescribeKit = <Subject extends KitSubject, Options>(
  name: string,
  cases: readonly KitCase<Subject, Options>[],
  setup: KitSetup<Subject, Options>,
) => void;

function newFile(): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'mortise-sqlite-'));
  return { file: path.join(folder, 'stores.db'), remove: () => rmSync(folder, { recursive: true }) };
}

/** Two openings of one new file, as two processes would have it. */
async function openTwice(driver: SqliteDriverName, more: SqliteStoresOptions = {}) {
  const { file, remove } = newFile();
  const options = { path: file, driver, durability: 'normal', ...more } as const;
  const [one, two] = [await createSqliteStores(options), await createSqliteStores(options)];
  const close = async (): Promise<void> => {
    await Promise.all([one.close(), two.close()]);
    remove();
  };
  return { one, two, close };
}

export function runEveryKit(describeKit: DescribeKit, driver: SqliteDriverName): void {
  describeKit(`SQLite's task store by ${driver}`, taskStoreCases, {
    traits: { shared: true, bounded: true, onOneMachine: true },
    async create() {
      const clock = new FakeClock();
      const { one, two, close } = await openTwice(driver, { clock });
      return { store: one.tasks, other: two.tasks, pass: (ms: number) => clock.advance(ms), close };
    },
  });

  describeKit(`SQLite's session store by ${driver}`, sessionStoreCases, {
    async create() {
      const clock = new FakeClock();
      const { one, close } = await openTwice(driver, { clock });
      return { store: one.sessions, pass: (ms: number) => clock.advance(ms), close };
    },
  });

  describeKit(`SQLite's event store by ${driver}`, eventStoreCases, {
    traits: { shared: true, claims: true, maxEvents: true, maxAge: true },
    async create() {
      const clock = new FakeClock();
      const { one, two, close } = await openTwice(driver, { clock, events: { maxEventsPerStream: 100, maxAgeMs: 60_000 } });
      const age = (): void => clock.advance(60_001);
      return { store: one.events, other: two.events, maxEvents: 100, age, close };
    },
  });

  describeKit(`SQLite's state store by ${driver}`, stateStoreCases, {
    async create() {
      const clock = new FakeClock();
      const { one, close } = await openTwice(driver, { clock });
      return { store: one.states, pass: (ms: number) => clock.advance(ms), close };
    },
  });

  describeKit(`SQLite's store of task ids by ${driver}`, taskHandleStoreCases, {
    async create() {
      const { one, close } = await openTwice(driver);
      return { store: one.taskHandles, close };
    },
  });

  describeKit(`SQLite's replay store by ${driver}`, replayStoreCases, {
    traits: { shared: true },
    async create() {
      const clock = new FakeClock();
      const { one, two, close } = await openTwice(driver, { clock });
      return { store: one.replays, other: two.replays, pass: (ms: number) => clock.advance(ms), close };
    },
  });
}
