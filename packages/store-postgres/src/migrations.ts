/**
 * The tables and functions of the stores, as numbered steps. Each step runs once per schema, in one transaction with the version number, behind a
 * lock: any number of machines may start at once, and a crash leaves no step half done. Never change a published step.
 */

import { TASK_BOUNDS } from '@mortise/protocol/edge';
import { type PostgresClient, type PostgresConnection, type Row, number } from './connection.ts';
import { PostgresStoreError } from './errors.ts';

const { maxEnded, maxCharacters } = TASK_BOUNDS.each;

/** How long all steps may take, with those of another machine that began before, in milliseconds. */
const MOST_MS = 600_000;

/** The most tasks that one call deletes because they have expired, so that none takes long. */
const MOST_AT_ONCE = 1000;

const migrations: readonly string[] = [
  // 1: everything. Ids have the collation "C", so that they are ordered as in other stores.
  `CREATE TABLE mortise.sessions (
     id text COLLATE "C" PRIMARY KEY,
     record text NOT NULL,
     version integer NOT NULL,
     expires timestamptz NOT NULL
   );
   CREATE INDEX sessions_expiry ON mortise.sessions (expires);
   CREATE TABLE mortise.states (id text COLLATE "C" PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL);
   CREATE INDEX states_expiry ON mortise.states (expires);
   CREATE TABLE mortise.claims (id text COLLATE "C" PRIMARY KEY, expires timestamptz NOT NULL);
   CREATE INDEX claims_expiry ON mortise.claims (expires);
   CREATE TABLE mortise.handles (server text COLLATE "C", task_id text COLLATE "C", record text NOT NULL, PRIMARY KEY (server, task_id));
   -- Long messages of the bus. A crash may empty this table: then all subscribers hear of a gap.
   CREATE UNLOGGED TABLE mortise.messages (id text COLLATE "C" PRIMARY KEY, body text NOT NULL, expires timestamptz NOT NULL);
   CREATE INDEX messages_expiry ON mortise.messages (expires);

   -- The streams of sessions: their last owner, and how many events they have had. The epoch of a stream that nobody has claimed is 0.
   CREATE TABLE mortise.streams (
     session_id text COLLATE "C",
     stream_id text COLLATE "C",
     epoch bigint NOT NULL,
     is_finished boolean NOT NULL DEFAULT false,
     about text,
     events integer NOT NULL,
     expires timestamptz NOT NULL,
     PRIMARY KEY (session_id, stream_id)
   );
   CREATE INDEX streams_expiry ON mortise.streams (expires);
   CREATE SEQUENCE mortise.event_numbers;
   CREATE TABLE mortise.events (
     number bigint DEFAULT nextval('mortise.event_numbers'),
     session_id text COLLATE "C",
     stream_id text COLLATE "C",
     message text,
     expires timestamptz NOT NULL,
     PRIMARY KEY (session_id, stream_id, number)
   );
   CREATE INDEX events_expiry ON mortise.events (expires);

   -- The record is an object of each member as JSON text: a jsonb cannot have every text of JSON, but a text in it can.
   -- The state is run (unfinished, for the engine), hand (unfinished, completed by the program) or end.
   -- A task with an owner is held until infinity: it becomes an orphan when the owner is not alive any more.
   CREATE TABLE mortise.tasks (
     id text COLLATE "C" PRIMARY KEY,
     principal text COLLATE "C" NOT NULL,
     record jsonb NOT NULL,
     version integer NOT NULL DEFAULT 1,
     state text NOT NULL,
     created double precision NOT NULL,
     expires timestamptz NOT NULL,
     ended timestamptz,
     owner text COLLATE "C",
     held_until timestamptz NOT NULL,
     bytes integer NOT NULL
   );
   CREATE INDEX tasks_of_principal ON mortise.tasks (principal, created, id);
   CREATE INDEX tasks_open ON mortise.tasks (principal, expires) WHERE state <> 'end';
   CREATE INDEX tasks_ended ON mortise.tasks (principal, ended) WHERE ended IS NOT NULL;
   CREATE INDEX tasks_expiry ON mortise.tasks (expires) WHERE expires < 'infinity';
   CREATE INDEX tasks_held ON mortise.tasks (held_until) WHERE state = 'run' AND held_until < 'infinity';
   CREATE INDEX tasks_owned ON mortise.tasks (owner, held_until, created, id) WHERE state = 'run';
   CREATE TABLE mortise.steps (
     task_id text COLLATE "C" REFERENCES mortise.tasks ON DELETE CASCADE,
     key text COLLATE "C",
     value text NOT NULL,
     PRIMARY KEY (task_id, key)
   );
   CREATE TABLE mortise.owners (owner text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);
   CREATE INDEX owners_until ON mortise.owners (until);
   -- How many ended tasks and how many bytes each principal has. Who deletes or adds tasks locks this row first, then rows of tasks.
   CREATE TABLE mortise.sums (principal text COLLATE "C" PRIMARY KEY, ended integer NOT NULL, bytes bigint NOT NULL);

   -- Adds ended tasks and bytes to the sums of a principal, and deletes the tasks that ended first until there is room. False, and nothing is
   -- added, if unfinished tasks take the room, unless this must be stored in any case.
   CREATE FUNCTION mortise.add_to_sums(whose text, more integer, more_bytes bigint, is_must boolean DEFAULT false) RETURNS boolean AS $$
   DECLARE
     new_ended integer;
     new_bytes bigint;
     freed integer;
     is_full boolean := false;
   BEGIN
     INSERT INTO mortise.sums VALUES (whose, more, more_bytes)
       ON CONFLICT (principal) DO UPDATE SET ended = sums.ended + more, bytes = sums.bytes + more_bytes
       RETURNING ended, bytes INTO new_ended, new_bytes;
     WHILE NOT is_full AND (new_ended > ${maxEnded} OR new_bytes > ${maxCharacters}) LOOP
       DELETE FROM mortise.tasks WHERE id = (SELECT id FROM mortise.tasks WHERE principal = whose AND ended IS NOT NULL ORDER BY ended LIMIT 1)
         RETURNING bytes INTO freed;
       is_full := NOT FOUND;
       IF NOT is_full THEN
         UPDATE mortise.sums SET ended = ended - 1, bytes = bytes - freed WHERE principal = whose RETURNING ended, bytes INTO new_ended, new_bytes;
       END IF;
     END LOOP;
     IF is_full AND NOT is_must THEN
       UPDATE mortise.sums SET ended = ended - more, bytes = bytes - more_bytes WHERE principal = whose;
       RETURN false;
     END IF;
     RETURN true;
   END $$ LANGUAGE plpgsql;

   -- An owner that is alive for nine tenths of the lease already is not written: that row would be locked by every new task.
   CREATE FUNCTION mortise.keep_alive(who text, lease interval) RETURNS void AS $$
   BEGIN
     IF NOT EXISTS (SELECT FROM mortise.owners WHERE owner = who AND until >= now() + 0.9 * lease) THEN
       INSERT INTO mortise.owners VALUES (who, now() + lease) ON CONFLICT (owner) DO UPDATE SET until = greatest(owners.until, excluded.until);
     END IF;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.create_task(
     new_id text, whose text, new_record jsonb, new_state text, new_created double precision, ttl interval, who text, lease interval, most integer
   ) RETURNS text AS $$
   DECLARE
     size integer := octet_length(new_record::text);
     is_end integer := (new_state = 'end')::integer;
   BEGIN
     IF most IS NOT NULL THEN
       -- A lock: of several calls at once each counts what those before it have created.
       INSERT INTO mortise.sums VALUES (whose, 0, 0) ON CONFLICT (principal) DO UPDATE SET ended = sums.ended;
       IF most <= (SELECT count(*) FROM (
           SELECT FROM mortise.tasks WHERE principal = whose AND state <> 'end' AND expires > now() LIMIT most) AS open) THEN
         RETURN 'limit';
       END IF;
     END IF;
     IF NOT mortise.add_to_sums(whose, is_end, size) THEN
       RETURN 'full';
     END IF;
     INSERT INTO mortise.tasks (id, principal, record, state, created, expires, ended, owner, held_until, bytes)
       VALUES (new_id, whose, new_record, new_state, new_created, coalesce(now() + ttl, 'infinity'),
         CASE WHEN is_end = 1 THEN clock_timestamp() END, who, CASE WHEN who IS NULL THEN now() + lease ELSE 'infinity' END, size)
       ON CONFLICT (id) DO NOTHING;
     IF NOT FOUND THEN
       UPDATE mortise.sums SET ended = ended - is_end, bytes = bytes - size WHERE principal = whose;
       RETURN 'exists';
     END IF;
     IF who IS NOT NULL THEN
       PERFORM mortise.keep_alive(who, lease);
     END IF;
     RETURN 'created';
   END $$ LANGUAGE plpgsql;

   -- A task that has not ended is counted again only when it has grown much, so that its updates do not wait for other tasks of its principal.
   CREATE FUNCTION mortise.update_task(which text, expected integer, changes jsonb, removed text[], is_ending boolean) RETURNS SETOF mortise.tasks AS $$
   DECLARE
     before mortise.tasks;
     after jsonb;
     is_end integer;
     size integer;
     grown integer := 0;
   BEGIN
     SELECT * INTO before FROM mortise.tasks WHERE id = which AND version = expected AND expires > now();
     IF NOT FOUND THEN
       RETURN;
     END IF;
     after := (before.record || changes) - removed;
     is_end := (is_ending AND before.state <> 'end')::integer;
     size := octet_length(after::text);
     IF is_end = 1 OR size - before.bytes > 65536 THEN
       size := size + (SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0) FROM mortise.steps WHERE task_id = which);
       grown := size - before.bytes;
       -- A result is stored in any case: it takes the place of tasks that ended before.
       PERFORM mortise.add_to_sums(before.principal, is_end, grown, true);
     END IF;
     RETURN QUERY UPDATE mortise.tasks
       SET record = after, version = version + 1, bytes = bytes + grown,
         state = CASE WHEN is_end = 1 THEN 'end' ELSE state END, ended = CASE WHEN is_end = 1 THEN clock_timestamp() ELSE ended END
       WHERE id = which AND version = expected RETURNING *;
     IF NOT FOUND AND (is_end = 1 OR grown <> 0) THEN
       UPDATE mortise.sums SET ended = ended - is_end, bytes = bytes - grown WHERE principal = before.principal;
     END IF;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.delete_tasks(ids text[]) RETURNS void AS $$
   DECLARE
     whose text[] := ARRAY(SELECT DISTINCT principal FROM mortise.tasks WHERE id = ANY (ids));
   BEGIN
     PERFORM FROM mortise.sums WHERE principal = ANY (whose) ORDER BY principal FOR UPDATE;
     WITH gone AS (DELETE FROM mortise.tasks WHERE id = ANY (ids) RETURNING principal, ended, bytes),
       totals AS (SELECT principal, count(ended) AS ended, sum(bytes) AS bytes FROM gone GROUP BY principal)
       UPDATE mortise.sums SET ended = sums.ended - totals.ended, bytes = sums.bytes - totals.bytes
         FROM totals WHERE totals.principal = sums.principal;
     DELETE FROM mortise.sums WHERE principal = ANY (whose) AND bytes <= 0;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.delete_expired_tasks() RETURNS void AS $$
   DECLARE
     ids text[] := ARRAY(SELECT id FROM mortise.tasks WHERE expires <= now() AND expires < 'infinity' ORDER BY expires LIMIT ${MOST_AT_ONCE});
   BEGIN
     PERFORM mortise.delete_tasks(ids);
     DELETE FROM mortise.owners WHERE until <= now() AND NOT EXISTS (SELECT FROM mortise.tasks WHERE owner = owners.owner AND state = 'run');
   END $$ LANGUAGE plpgsql;

   -- Each statement of a function sees what was committed before it: what is read here is read behind the locks.
   CREATE FUNCTION mortise.claim_task(which text, who text, lease interval, OUT was_owned boolean, OUT task mortise.tasks) AS $$
   DECLARE
     before text;
   BEGIN
     SELECT owner INTO before FROM mortise.tasks WHERE id = which AND state = 'run' AND expires > now() FOR UPDATE;
     IF NOT FOUND THEN
       RETURN;
     END IF;
     -- Locked, so that an owner that comes back at this moment waits, and sees that it has the task no longer.
     IF before <> who AND clock_timestamp() < (SELECT until FROM mortise.owners WHERE owner = before FOR SHARE) THEN
       RETURN;
     END IF;
     PERFORM mortise.keep_alive(who, lease);
     UPDATE mortise.tasks SET owner = who, version = version + 1, held_until = 'infinity' WHERE id = which RETURNING tasks.* INTO task;
     was_owned := before IS NOT NULL;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.renew_owner(who text, lease interval) RETURNS json AS $$
   BEGIN
     INSERT INTO mortise.owners VALUES (who, now() + lease) ON CONFLICT (owner) DO UPDATE SET until = excluded.until;
     RETURN (SELECT json_object_agg(id, version) FROM mortise.tasks WHERE owner = who AND state = 'run' AND expires > now());
   END $$ LANGUAGE plpgsql;

   -- 0 instead of a value if there is no such task, 1 if there is no room.
   CREATE FUNCTION mortise.put_step(which text, name text, new_value text, OUT value text, OUT refusal integer) AS $$
   DECLARE
     size integer := octet_length(name) + octet_length(new_value);
     whose text;
   BEGIN
     SELECT principal INTO whose FROM mortise.tasks WHERE id = which AND expires > now();
     IF NOT FOUND THEN
       refusal := 0;
       RETURN;
     END IF;
     SELECT steps.value INTO value FROM mortise.steps WHERE task_id = which AND key = name;
     IF FOUND THEN
       RETURN;
     END IF;
     IF NOT mortise.add_to_sums(whose, 0, size) THEN
       refusal := 1;
       RETURN;
     END IF;
     -- Behind the lock of the sums: another may have put the step, and making room may have deleted this very task, if it had ended.
     UPDATE mortise.tasks SET bytes = bytes + size WHERE id = which;
     IF NOT FOUND THEN
       UPDATE mortise.sums SET bytes = bytes - size WHERE principal = whose;
       refusal := 0;
       RETURN;
     END IF;
     INSERT INTO mortise.steps VALUES (which, name, new_value) ON CONFLICT DO NOTHING RETURNING steps.value INTO value;
     IF NOT FOUND THEN
       UPDATE mortise.tasks SET bytes = bytes - size WHERE id = which;
       UPDATE mortise.sums SET bytes = bytes - size WHERE principal = whose;
       SELECT steps.value INTO value FROM mortise.steps WHERE task_id = which AND key = name;
     END IF;
   END $$ LANGUAGE plpgsql;`,
];

/**
 * Runs the steps that a schema has not had yet.
 *
 * @throws {PostgresStoreError} `ERR_POSTGRES_SCHEMA`: a newer version of this package has changed the tables.
 */
export function migrate(connection: PostgresConnection): Promise<void> {
  return connection.use((client) => runSteps(client, connection), MOST_MS);
}

async function runSteps(client: PostgresClient, connection: PostgresConnection): Promise<void> {
  const run = async (text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await client.query(connection.inSchema(text), values.length > 0 ? values : undefined)).rows as Row[];
  const readVersion = async (): Promise<number> => {
    const [row] = await run('SELECT version FROM mortise.migrations');
    return row === undefined ? 0 : number(row, 'version');
  };
  const known = migrations.length;
  // Without a lock: where nothing is to be done, no rights to create anything are needed.
  const [table] = await run('SELECT to_regclass($1) IS NOT NULL AS exists', connection.inSchema('mortise.migrations'));
  if (table?.['exists'] === true && (await readVersion()) === known) return;
  await run('BEGIN; SET LOCAL statement_timeout = 0');
  await run('SELECT pg_advisory_xact_lock(hashtext($1))', connection.inSchema('mortise.migrations'));
  // What another machine created while this one waited: a query finds it, but `to_regclass` or IF NOT EXISTS of a schema may not.
  const [schema] = await run('SELECT FROM pg_namespace WHERE nspname = $1', connection.schema);
  if (!schema) await run(`CREATE SCHEMA "${connection.schema}"`);
  await run('CREATE TABLE IF NOT EXISTS mortise.migrations (version integer NOT NULL)');
  const version = await readVersion();
  if (version > known) {
    await run('ROLLBACK');
    throw new PostgresStoreError(
      'ERR_POSTGRES_SCHEMA',
      `the schema "${connection.schema}" is at step ${version}, but this version of @mortise/store-postgres knows ${known}: update the package`,
    );
  }
  for (const sql of migrations.slice(version)) await run(sql);
  await run(`DELETE FROM mortise.migrations; INSERT INTO mortise.migrations VALUES (${known}); COMMIT`);
}
