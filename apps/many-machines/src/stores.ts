/** Opens the stores of an engine by its URL: `redis:` or `postgres:`. */

import { createRedisStores } from '@mortise/store-redis';
import type { Stores } from './node.ts';

export async function openStores(url: string, prefix: string): Promise<Stores> {
  return createRedisStores({ url, prefix });
}
