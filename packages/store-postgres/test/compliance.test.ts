/** Every kit against a real PostgreSQL: near, and 50 ms away. */

import { createPostgresStores } from '@mortise/store-postgres';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { afterAll, beforeAll, describe } from 'vitest';
import { type OpenOptions, runEveryKit } from '../../../scripts/test/store-kits.ts';
import { hasPostgres, PostgresServer } from './postgres-server.ts';

describe.skipIf(!hasPostgres)('one PostgreSQL', () => {
  const server = new PostgresServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const openBehind =
    (delayMs: number) =>
    async ({ name: schema, events }: OpenOptions) => {
      const [line, otherLine] = [await server.openProxy(delayMs), await server.openProxy(delayMs)];
      const [one, other] = await Promise.all([
        createPostgresStores({ url: line.url, schema, events, waitMs: 60_000 }),
        createPostgresStores({ url: otherLine.url, schema, events, waitMs: 60_000 }),
      ]);
      const close = async (): Promise<void> => {
        await Promise.all([one.close(), other.close()]);
        await Promise.all([line.close(), otherLine.close()]);
      };
      return { one, other, line, close };
    };
  const engine = { bus: true, gaps: true };
  describe.concurrent('near', () => runEveryKit(describeKit, openBehind(0), { ...engine, bounded: true }));
  describe.concurrent('50 ms away', () => runEveryKit(describeKit, openBehind(50), engine));
});
