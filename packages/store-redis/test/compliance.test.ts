/** Every kit against a real Redis: near, and 50 ms away. */

import { createRedisStores } from '@mortise/store-redis';
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
        createRedisStores({ url: line.url, prefix, events }),
        createRedisStores({ url: otherLine.url, prefix, events }),
      ]);
      const close = async (): Promise<void> => {
        await Promise.all([one.close(), other.close()]);
        await Promise.all([line.close(), otherLine.close()]);
      };
      return { one, other, line, close };
    };
  runEveryKit('near', openBehind(0), { gaps: true, bounded: true });
  runEveryKit('50 ms away', openBehind(50), { gaps: true });
});
