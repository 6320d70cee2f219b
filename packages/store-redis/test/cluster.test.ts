/** Every kit against a cluster of three, which refuses a step that needs keys of two machines. */

import { createRedisStores } from '@mortise/store-redis';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { createCluster } from '@redis/client';
import { afterAll, beforeAll, describe } from 'vitest';
import { type OpenOptions, runEveryKit } from '../../../scripts/test/store-kits.ts';
import { type RedisCluster, startCluster } from './redis-cluster.ts';
import { hasRedis } from './redis-server.ts';

describe.skipIf(!hasRedis)('three Redis that are a cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  const open = async ({ name: prefix, events }: OpenOptions) => {
    const client = createCluster({ rootNodes: cluster.urls.map((url) => ({ url })) });
    client.on('error', () => undefined);
    await client.connect();
    return { client, stores: await createRedisStores({ client, prefix, events, waitMs: 60_000 }) };
  };
  const openTwice = async (options: OpenOptions) => {
    const both = [await open(options), await open(options)] as const;
    const close = async (): Promise<void> => {
      for (const { stores, client } of both) {
        await stores.close();
        await client.close();
      }
    };
    return { one: both[0].stores, other: both[1].stores, close };
  };
  describe.concurrent('with a client for clusters', () => runEveryKit(describeKit, openTwice, { bus: true }));
});
