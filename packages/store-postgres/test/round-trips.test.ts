import { createPostgresStores, type PostgresClient } from '@mortise/store-postgres';
import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { countRoundTrips, expectRoundTrips } from '../../../scripts/test/store-round-trips.ts';
import { hasPostgres, PostgresServer } from './postgres-server.ts';

it.skipIf(!hasPostgres)('[ROBUSTNESS-18] sends as many statements as docs/round-trips.md says', async () => {
  const server = new PostgresServer();
  onTestFinished(() => server.close());
  await server.start();
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined);
  onTestFinished(() => void pool.end());
  let count = 0;
  const connect = async (): Promise<PostgresClient> => {
    const client: PostgresClient = await pool.connect();
    return {
      query(text, values) {
        if (!text.startsWith('LISTEN')) count++;
        return client.query(text, values);
      },
      on: (event, listener) => client.on(event, listener),
      off: (event, listener) => client.off(event, listener),
      release: (isBroken) => client.release(isBroken),
    };
  };
  const stores = await createPostgresStores({ pool: { connect } });
  onTestFinished(() => stores.close());
  await expectRoundTrips('PostgreSQL', await countRoundTrips(stores, () => count));
  expect(count).toBeGreaterThan(0);
});
