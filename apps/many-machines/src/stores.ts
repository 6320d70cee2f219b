/** Opens the stores of an engine by its URL: `redis:` or `postgres:`. */

import type { ClusterStores } from '@mortise/protocol/contracts';
import { createPostgresStores } from '@mortise/store-postgres';
import { createRedisStores } from '@mortise/store-redis';

/** @param name Names the cluster in the engine. */
export async function openStores(url: string, name: string): Promise<ClusterStores> {
  return url.startsWith('redis')
    ? createRedisStores({ url, prefix: name })
    : createPostgresStores({ url, schema: name.replaceAll('-', '_') });
}
