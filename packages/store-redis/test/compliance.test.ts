/** Every kit against a real Redis: near, and 50 ms away. */

import { createRedisStores } from '@mortise/store-redis';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { afterAll, beforeAll, describe } from 'vitest';
import { type OpenOptions, runEveryKit } from '../../../scripts/test/store-kits.ts';
import { hasRedis, RedisServer } from './redis-server.ts';

describe.skipIf(!hasRedis)('one Redis', () => {
  const server = new RedisServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const openBehind =
    (delayMs: number) =>
    async ({ name: prefix, events }: OpenOptions) => {
      const [line, otherLine] = [await server.openProxy(delayMs), await server.openProxy(delayMs)];
      const [one, other] = await Promise.all([
        createRedisStores({ url: line.url, prefix, events, waitMs: 60_000 }),
        createRedisStores({ url: otherLine.url, prefix, events, waitMs: 60_000 }),
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
