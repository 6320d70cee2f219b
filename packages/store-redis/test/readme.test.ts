import { expect, it, onTestFinished } from 'vitest';
import { runReadme } from '../../../scripts/test/run-readme.ts';
import { hasRedis, RedisServer } from './redis-server.ts';

it.skipIf(!hasRedis)('the program of the README works', async () => {
  const server = new RedisServer();
  onTestFinished(() => server.close());
  await server.start();
  expect(await runReadme('store-redis', (await server.openProxy()).url)).toBe('stored heard');
});
