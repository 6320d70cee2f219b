import { expect, it, onTestFinished } from 'vitest';
import { runReadme } from '../../../scripts/test/run-readme.ts';
import { hasPostgres, PostgresServer } from './postgres-server.ts';

it.skipIf(!hasPostgres)('the program of the README works', async () => {
  const server = new PostgresServer();
  onTestFinished(() => server.close());
  await server.start();
  expect(await runReadme('store-postgres', server.url)).toBe('stored heard');
});
