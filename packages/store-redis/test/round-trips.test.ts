import { createRedisStores, type RedisClient } from '@mortise/store-redis';
import { createClient } from '@redis/client';
import { expect, it, onTestFinished } from 'vitest';
import { countRoundTrips, expectRoundTrips } from '../../../scripts/test/store-round-trips.ts';
import { hasRedis, RedisServer } from './redis-server.ts';

it.skipIf(!hasRedis)('[ROBUSTNESS-18] sends as many commands as docs/round-trips.md says', async () => {
  const server = new RedisServer();
  onTestFinished(() => server.close());
  await server.start();
  const client = createClient({ socket: { path: server.socket, tls: false } });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.destroy());
  let count = 0;
  const counting = new Proxy(client as RedisClient, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        // A script that Redis does not know yet is sent a second time, by `eval`.
        if (name === 'evalSha' || name === 'sPublish') count++;
        return Reflect.apply(value, target, args);
      };
    },
  });
  const stores = await createRedisStores({ client: counting });
  onTestFinished(() => stores.close());
  await expectRoundTrips('Redis', await countRoundTrips(stores, () => count));
  expect(count).toBeGreaterThan(0);
});
