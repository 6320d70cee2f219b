/**
 * The schema of the database, as numbered steps. Each step runs once per file, in one transaction with the version number, so that several
 * processes may open a file at once and a crash leaves no step half done. Never change a published step.
 */

import { number, type SqliteConnection } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

const migrations: readonly string[] = [
  // 1: tasks, their steps, and task handles of clients.
  `CREATE TABLE mortise_tasks (
     id TEXT PRIMARY KEY NOT NULL,
     principal TEXT NOT NULL,
     status TEXT NOT NULL,
     driver TEXT NOT NULL,
     created_at_ms REAL NOT NULL,
     expires_at_ms REAL,
     lease_owner TEXT,
     lease_until_ms REAL,
     version INTEGER NOT NULL,
     record TEXT NOT NULL
   );
   CREATE INDEX mortise_tasks_of_principal ON mortise_tasks (principal, created_at_ms, id);
   CREATE INDEX mortise_tasks_open ON mortise_tasks (created_at_ms, id)
     WHERE driver = 'engine' AND status IN ('working', 'input_required');
   CREATE INDEX mortise_tasks_expiry ON mortise_tasks (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
   CREATE TABLE mortise_steps (
     task_id TEXT NOT NULL,
     key TEXT NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (task_id, key)
   ) WITHOUT ROWID;
   CREATE TABLE mortise_task_handles (
     server TEXT NOT NULL,
     task_id TEXT NOT NULL,
     method TEXT NOT NULL,
     created_at_ms REAL NOT NULL,
     PRIMARY KEY (server, task_id)
   ) WITHOUT ROWID;`,
  // 2: sessions, events, request states, and used request states.
  `CREATE TABLE mortise_sessions (
     id TEXT PRIMARY KEY NOT NULL,
     principal TEXT NOT NULL,
     state TEXT NOT NULL,
     version INTEGER NOT NULL,
     expires_at_ms REAL NOT NULL
   );
   CREATE INDEX mortise_sessions_expiry ON mortise_sessions (expires_at_ms);
   CREATE TABLE mortise_events (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     session_id TEXT NOT NULL,
     stream_id TEXT NOT NULL,
     message TEXT,
     at_ms REAL NOT NULL
   );
   CREATE INDEX mortise_events_of_stream ON mortise_events (session_id, stream_id, number);
   CREATE INDEX mortise_events_age ON mortise_events (at_ms);
   CREATE TABLE mortise_states (
     id TEXT PRIMARY KEY NOT NULL,
     value TEXT NOT NULL,
     expires_at_ms REAL NOT NULL
   );
   CREATE INDEX mortise_states_expiry ON mortise_states (expires_at_ms);
   CREATE TABLE mortise_claims (
     id TEXT PRIMARY KEY NOT NULL,
     expires_at_ms REAL NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX mortise_claims_expiry ON mortise_claims (expires_at_ms);`,
  // 3: the order in which tasks ended, and how many ended tasks and how much text each principal ('=' and its name) and all ('*') have.
  `ALTER TABLE mortise_tasks ADD COLUMN ended_at_ms REAL;
   UPDATE mortise_tasks SET ended_at_ms = json_extract(record, '$.updatedAtMs') WHERE status NOT IN ('working', 'input_required');
   CREATE INDEX mortise_tasks_by_status ON mortise_tasks (principal, status, expires_at_ms);
   CREATE INDEX mortise_tasks_ended ON mortise_tasks (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
   CREATE INDEX mortise_tasks_ended_of_principal ON mortise_tasks (principal, ended_at_ms) WHERE ended_at_ms IS NOT NULL;
   CREATE TABLE mortise_task_sums (
     owner TEXT PRIMARY KEY NOT NULL,
     ended INTEGER NOT NULL,
     characters INTEGER NOT NULL
   ) WITHOUT ROWID;
   INSERT INTO mortise_task_sums
     SELECT '=' || principal, count(ended_at_ms), sum(length(record)) FROM mortise_tasks GROUP BY principal;
   UPDATE mortise_task_sums SET characters = characters + (
     SELECT coalesce(sum(length(key) + length(value)), 0) FROM mortise_tasks JOIN mortise_steps ON task_id = id WHERE '=' || principal = owner);
   INSERT INTO mortise_task_sums SELECT '*', coalesce(sum(ended), 0), coalesce(sum(characters), 0) FROM mortise_task_sums;
   CREATE TRIGGER mortise_task_created AFTER INSERT ON mortise_tasks BEGIN
     ${addToSums('NEW.principal', 'NEW.ended_at_ms IS NOT NULL', 'length(NEW.record)')};
   END;
   CREATE TRIGGER mortise_task_updated AFTER UPDATE OF ended_at_ms, record ON mortise_tasks BEGIN
     ${addToSums(
       'NEW.principal',
       '(NEW.ended_at_ms IS NOT NULL) - (OLD.ended_at_ms IS NOT NULL)',
       'length(NEW.record) - length(OLD.record)',
     )};
   END;
   CREATE TRIGGER mortise_task_deleting BEFORE DELETE ON mortise_tasks BEGIN
     DELETE FROM mortise_steps WHERE task_id = OLD.id;
     ${addToSums('OLD.principal', '-(OLD.ended_at_ms IS NOT NULL)', '-length(OLD.record)')};
     DELETE FROM mortise_task_sums WHERE owner = '=' || OLD.principal AND characters = 0;
   END;
   CREATE TRIGGER mortise_step_created AFTER INSERT ON mortise_steps BEGIN
     ${addToSums('(SELECT principal FROM mortise_tasks WHERE id = NEW.task_id)', '0', 'length(NEW.key) + length(NEW.value)')};
   END;
   CREATE TRIGGER mortise_step_deleted AFTER DELETE ON mortise_steps BEGIN
     ${addToSums('(SELECT principal FROM mortise_tasks WHERE id = OLD.task_id)', '0', '-length(OLD.key) - length(OLD.value)')};
   END;`,
  // 4: which event of its stream an event is, so that those beyond the limit are found without counting.
  `ALTER TABLE mortise_events ADD COLUMN place INTEGER;`,
  // 5: until when each owner of tasks is alive, and until when each task is no orphan. A task with an owner is held (9e15) by its life.
  `CREATE TABLE mortise_task_owners (
     owner TEXT PRIMARY KEY NOT NULL,
     until_ms REAL NOT NULL
   ) WITHOUT ROWID;
   INSERT INTO mortise_task_owners
     SELECT lease_owner, max(lease_until_ms) FROM mortise_tasks WHERE lease_owner IS NOT NULL GROUP BY lease_owner;
   ALTER TABLE mortise_tasks ADD COLUMN held_until_ms REAL NOT NULL DEFAULT 0;
   UPDATE mortise_tasks SET held_until_ms = 9e15 WHERE lease_owner IS NOT NULL;
   ALTER TABLE mortise_tasks DROP COLUMN lease_until_ms;
   ALTER TABLE mortise_tasks RENAME COLUMN lease_owner TO owner;
   CREATE INDEX mortise_tasks_held ON mortise_tasks (held_until_ms)
     WHERE driver = 'engine' AND status IN ('working', 'input_required');
   CREATE INDEX mortise_tasks_owned ON mortise_tasks (owner, id, version)
     WHERE driver = 'engine' AND status IN ('working', 'input_required');`,
  // 6: the owners of streams.
  `CREATE TABLE mortise_streams (
     session_id TEXT NOT NULL,
     stream_id TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     is_finished INTEGER NOT NULL,
     about TEXT,
     at_ms REAL NOT NULL,
     PRIMARY KEY (session_id, stream_id)
   ) WITHOUT ROWID;
   CREATE INDEX mortise_streams_age ON mortise_streams (at_ms);`,
];

/** The SQL of a trigger that adds to the sums of a principal and of all. */
function addToSums(principal: string, ended: string, characters: string): string {
  return `INSERT INTO mortise_task_sums VALUES ('*', ${ended}, ${characters}), ('=' || ${principal}, ${ended}, ${characters})
       ON CONFLICT (owner) DO UPDATE SET ended = ended + excluded.ended, characters = characters + excluded.characters`;
}

/**
 * Runs the migration steps that a database file has not had yet.
 *
 * @throws {SqliteStoreError} `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file.
 */
export function migrate(connection: SqliteConnection): void {
  connection.exec('CREATE TABLE IF NOT EXISTS mortise_schema (version INTEGER NOT NULL)');
  const known = migrations.length;
  if (versionOf(connection) === known) return;
  connection.transaction(() => {
    const version = versionOf(connection);
    if (version > known) {
      throw new SqliteStoreError(
        'ERR_SQLITE_SCHEMA',
        `the SQLite file has schema ${version}, but this version of @mortise/store-sqlite supports up to ${known}: update the package`,
      );
    }
    for (const sql of migrations.slice(version)) connection.exec(sql);
    connection.exec(`DELETE FROM mortise_schema; INSERT INTO mortise_schema (version) VALUES (${known})`);
  });
}

function versionOf(connection: SqliteConnection): number {
  const row = connection.get('SELECT version FROM mortise_schema');
  return row === undefined ? 0 : number(row, 'version');
}
