/** Every kit that the stores run, against one driver. Used under vitest and, on another Node, under Node's own runner. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSqliteStores, type SqliteDriverName } from '@mortise/store-sqlite';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { type OpenOptions, runEveryKit } from '../../../scripts/test/store-kits.ts';

export function runKits(describeKit: Parameters<typeof runEveryKit>[0], driver: SqliteDriverName): void {
  /** Two openings of one new file, as two processes would have it. */
  const openTwice = async ({ events }: OpenOptions) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mortise-sqlite-'));
    const clock = new FakeClock();
    const options = { path: path.join(folder, 'stores.db'), driver, durability: 'normal', clock, events } as const;
    const [one, other] = [await createSqliteStores(options), await createSqliteStores(options)];
    const opened = [one, other];
    const reopen = async () => {
      await one.close();
      const again = await createSqliteStores(options);
      opened.push(again);
      return again;
    };
    const close = async (): Promise<void> => {
      await Promise.all(opened.map((stores) => stores.close()));
      rmSync(folder, { recursive: true });
    };
    return { one, other, reopen, pass: (ms: number) => clock.advance(ms), close };
  };
  runEveryKit(describeKit, openTwice, { bounded: true, onOneMachine: true, reopens: true });
}
