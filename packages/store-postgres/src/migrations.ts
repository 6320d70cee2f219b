/**
 * The tables and functions of the stores, as numbered steps. Each step runs once per schema, in one transaction with the version number, behind a
 * lock: any number of machines may start at once, and a crash leaves no step half done. Never change a published step.
 */

import { TASK_BOUNDS } from '@mortise/protocol/edge';
import type { PostgresClient, PostgresConnection, Row } from './connection.ts';
import { PostgresStoreError } from './errors.ts';

const { maxEnded, maxCharacters } = TASK_BOUNDS.each;

/** How long all steps may take, with those of another machine that began before, in milliseconds. */
const MOST_MS = 600_000;

const migrations: readonly string[] = [
  // 1: everything. Ids have the collation "C", so that they are ordered as in other stores.
  `CREATE TABLE mortise.migrations (version integer NOT NULL);
   CREATE FUNCTION mortise.after(ms float8) RETURNS timestamptz AS $$ SELECT now() + ms * interval '1 ms' $$ LANGUAGE sql STABLE;
   CREATE TABLE mortise.sessions (
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
     created float8 NOT NULL,
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
   CREATE INDEX tasks_owned ON mortise.tasks (owner, held_until) WHERE state = 'run';
   CREATE TABLE mortise.steps (
     task_id text COLLATE "C" REFERENCES mortise.tasks ON DELETE CASCADE,
     key text COLLATE "C",
     value text NOT NULL,
     PRIMARY KEY (task_id, key)
   );
   CREATE TABLE mortise.owners (owner text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);
   CREATE INDEX owners_until ON mortise.owners (until);
   -- How many ended tasks and how many bytes each principal has. Whoever changes these locks this row first, then rows of tasks.
   CREATE TABLE mortise.sums (principal text COLLATE "C" PRIMARY KEY, ended integer NOT NULL, bytes bigint NOT NULL);

   CREATE FUNCTION mortise.count_task() RETURNS trigger AS $$
   BEGIN
     UPDATE mortise.sums SET
       ended = ended + (NEW.ended IS NOT NULL)::integer - (OLD.ended IS NOT NULL)::integer,
       bytes = bytes + coalesce(NEW.bytes, 0) - coalesce(OLD.bytes, 0)
       WHERE principal = coalesce(NEW.principal, OLD.principal);
     RETURN NULL;
   END $$ LANGUAGE plpgsql;
   CREATE TRIGGER task_added AFTER INSERT OR DELETE ON mortise.tasks FOR EACH ROW EXECUTE FUNCTION mortise.count_task();
   CREATE TRIGGER task_changed AFTER UPDATE ON mortise.tasks FOR EACH ROW
     WHEN (OLD.bytes <> NEW.bytes OR OLD.ended IS DISTINCT FROM NEW.ended) EXECUTE FUNCTION mortise.count_task();

   -- Locks the sums of a principal, and deletes its tasks that ended first until there is room. False if unfinished tasks take the room.
   CREATE FUNCTION mortise.make_room(whose text, more integer, more_bytes bigint) RETURNS boolean AS $$
   DECLARE
     stored mortise.sums;
   BEGIN
     LOOP
       SELECT * INTO stored FROM mortise.sums WHERE principal = whose FOR UPDATE;
       IF stored.ended + more <= ${maxEnded} AND stored.bytes + more_bytes <= ${maxCharacters} THEN
         RETURN true;
       END IF;
       DELETE FROM mortise.tasks WHERE id = (SELECT id FROM mortise.tasks WHERE principal = whose AND ended IS NOT NULL ORDER BY ended LIMIT 1);
       IF NOT FOUND THEN
         RETURN false;
       END IF;
     END LOOP;
   END $$ LANGUAGE plpgsql;

   -- An owner that is alive for nine tenths of the lease already is not written: that row would be locked by every new task.
   CREATE FUNCTION mortise.keep_alive(who text, lease float8) RETURNS void AS $$
     INSERT INTO mortise.owners SELECT who, mortise.after(lease)
       WHERE NOT EXISTS (SELECT FROM mortise.owners WHERE owner = who AND until >= mortise.after(0.9 * lease))
       ON CONFLICT (owner) DO UPDATE SET until = greatest(owners.until, excluded.until);
   $$ LANGUAGE sql;

   -- Behind the lock of the sums each call counts what those before it have created.
   CREATE FUNCTION mortise.create_task(
     new_id text, whose text, new_record jsonb, new_state text, new_created float8, ttl float8, who text, lease float8, most integer
   ) RETURNS text AS $$
   DECLARE
     size integer := octet_length(new_record::text);
     end_time timestamptz := CASE new_state WHEN 'end' THEN clock_timestamp() END;
   BEGIN
     INSERT INTO mortise.sums VALUES (whose, 0, 0) ON CONFLICT (principal) DO UPDATE SET ended = sums.ended;
     IF most <= (SELECT count(*) FROM (
         SELECT FROM mortise.tasks WHERE principal = whose AND state <> 'end' AND expires > now() LIMIT most) AS open) THEN
       RETURN 'limit';
     ELSIF NOT mortise.make_room(whose, (new_state = 'end')::integer, size) THEN
       RETURN 'full';
     END IF;
     INSERT INTO mortise.tasks (id, principal, record, state, created, expires, ended, owner, held_until, bytes)
       VALUES (new_id, whose, new_record, new_state, new_created, coalesce(mortise.after(ttl), 'infinity'), end_time,
         who, CASE WHEN who IS NULL THEN mortise.after(lease) ELSE 'infinity' END, size)
       ON CONFLICT (id) DO NOTHING;
     IF NOT FOUND THEN
       RETURN 'exists';
     ELSIF who IS NOT NULL THEN
       PERFORM mortise.keep_alive(who, lease);
     END IF;
     RETURN 'created';
   END $$ LANGUAGE plpgsql;

   -- A task that has not ended is counted again only when it has grown much, so that its updates do not wait for other tasks of its principal.
   CREATE FUNCTION mortise.update_task(which text, expected integer, changes jsonb, removed text[], is_ended boolean) RETURNS SETOF mortise.tasks AS $$
   DECLARE
     before mortise.tasks;
     after jsonb;
     size integer;
     is_ending boolean;
     is_counted boolean;
   BEGIN
     SELECT * INTO before FROM mortise.tasks WHERE id = which AND version = expected AND expires > now();
     after := (before.record || changes) - removed;
     size := octet_length(after::text);
     is_ending := is_ended AND before.state <> 'end';
     is_counted := is_ending OR size - before.bytes > 65536;
     IF is_counted THEN
       -- Behind the lock, so that no step is missing.
       PERFORM FROM mortise.sums WHERE principal = before.principal FOR UPDATE;
       size := size + (SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0) FROM mortise.steps WHERE task_id = which);
       -- A result is stored in any case: it takes the place of tasks that ended before.
       PERFORM mortise.make_room(before.principal, is_ending::integer, size - before.bytes);
     END IF;
     RETURN QUERY UPDATE mortise.tasks
       SET record = after, version = version + 1, bytes = CASE WHEN is_counted THEN size ELSE bytes END,
         state = CASE WHEN is_ending THEN 'end' ELSE state END, ended = CASE WHEN is_ending THEN clock_timestamp() ELSE ended END
       WHERE id = which AND version = expected AND before.id IS NOT NULL RETURNING *;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.delete_tasks(ids text[]) RETURNS void AS $$
   DECLARE
     whose text[] := ARRAY(SELECT DISTINCT principal FROM mortise.tasks WHERE id = ANY (ids));
   BEGIN
     PERFORM FROM mortise.sums WHERE principal = ANY (whose) ORDER BY principal FOR UPDATE;
     DELETE FROM mortise.tasks WHERE id = ANY (ids);
     DELETE FROM mortise.sums WHERE principal = ANY (whose) AND bytes <= 0;
   END $$ LANGUAGE plpgsql;

   -- Each statement of a function sees what was committed before it: what is read here is read behind the locks.
   CREATE FUNCTION mortise.claim_task(which text, who text, lease float8, OUT was_owned boolean, OUT task mortise.tasks) AS $$
   DECLARE
     before text;
   BEGIN
     SELECT owner INTO before FROM mortise.tasks WHERE id = which AND state = 'run' AND expires > now() FOR UPDATE;
     IF NOT FOUND THEN
       RETURN;
     END IF;
     IF before <> who THEN
       -- Locked, so that an owner that comes back at this moment waits, and sees that it has the task no longer. Both, always in the same order.
       PERFORM FROM mortise.owners WHERE owner IN (before, who) ORDER BY owner FOR UPDATE;
       IF clock_timestamp() < (SELECT until FROM mortise.owners WHERE owner = before) THEN
         RETURN;
       END IF;
     END IF;
     PERFORM mortise.keep_alive(who, lease);
     UPDATE mortise.tasks SET owner = who, version = version + 1, held_until = 'infinity' WHERE id = which RETURNING tasks.* INTO task;
     was_owned := before IS NOT NULL;
   END $$ LANGUAGE plpgsql;

   CREATE FUNCTION mortise.renew_owner(who text, lease float8) RETURNS json AS $$
     INSERT INTO mortise.owners VALUES (who, mortise.after(lease)) ON CONFLICT (owner) DO UPDATE SET until = excluded.until;
     SELECT json_object_agg(id, version) FROM mortise.tasks WHERE owner = who AND state = 'run' AND expires > now();
   $$ LANGUAGE sql;

   -- Gives the stored value, as JSON; nothing if there is no such task, and an empty text if there is no room.
   CREATE FUNCTION mortise.put_step(which text, name text, new_value text) RETURNS text AS $$
   DECLARE
     whose text := (SELECT principal FROM mortise.tasks WHERE id = which AND expires > now());
     size integer := octet_length(name) + octet_length(new_value);
     stored text;
   BEGIN
     PERFORM FROM mortise.sums WHERE principal = whose FOR UPDATE;
     SELECT value INTO stored FROM mortise.steps WHERE task_id = which AND key = name;
     IF FOUND OR whose IS NULL THEN
       RETURN CASE WHEN whose IS NOT NULL THEN stored END;
     ELSIF NOT mortise.make_room(whose, 0, size) THEN
       RETURN '';
     END IF;
     -- Making room may have deleted this very task, if it had ended.
     UPDATE mortise.tasks SET bytes = bytes + size WHERE id = which;
     IF FOUND THEN
       INSERT INTO mortise.steps VALUES (which, name, new_value) RETURNING value INTO stored;
     END IF;
     RETURN stored;
   END $$ LANGUAGE plpgsql;`,
];

/**
 * Runs the steps that a schema has not had yet.
 *
 * @throws {PostgresStoreError} `ERR_POSTGRES_SCHEMA`: a newer version of this package has changed the tables.
 */
export function migrate(connection: PostgresConnection): Promise<void> {
  const work = async (client: PostgresClient): Promise<void> => {
    try {
      await runSteps(client, connection);
    } catch (error) {
      // The connection may go back to a pool of the program.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  };
  return connection.use(work, MOST_MS);
}

async function runSteps(client: PostgresClient, { schema, inSchema }: PostgresConnection): Promise<void> {
  const run = async (sql: string): Promise<readonly Row[]> => (await client.query(sql)).rows as Row[];
  // What another machine created while this one waited: a query finds it, but `to_regclass` or IF NOT EXISTS of a schema may not.
  const isThere = async (what: string): Promise<boolean> => (await run(`SELECT FROM ${what}`)).length > 0;
  const readVersion = async (): Promise<number> => {
    if (!(await isThere(`pg_tables WHERE schemaname = '${schema}' AND tablename = 'migrations'`))) return 0;
    return Number((await run(inSchema('SELECT version FROM mortise.migrations')))[0]?.['version'] ?? 0);
  };
  const known = migrations.length;
  // Without a lock: where nothing is to be done, no rights to create anything are needed.
  if ((await readVersion()) === known) return;
  await run(`BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(hashtext('${schema}.migrations'))`);
  const version = await readVersion();
  if (version > known)
    throw new PostgresStoreError(
      'ERR_POSTGRES_SCHEMA',
      `the schema "${schema}" is at step ${version}, but this version of @mortise/store-postgres knows ${known}: update the package`,
    );
  if (!(await isThere(`pg_namespace WHERE nspname = '${schema}'`))) await run(`CREATE SCHEMA "${schema}"`);
  for (const sql of migrations.slice(version)) await run(inSchema(sql));
  await run(inSchema(`DELETE FROM mortise.migrations; INSERT INTO mortise.migrations VALUES (${known}); COMMIT`));
}
