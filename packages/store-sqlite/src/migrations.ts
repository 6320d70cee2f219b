/**
 * The schema of the database, as numbered steps. Each step runs once per file, in one transaction with the version number, so that several
 * processes may open a file at once and a crash leaves no step half done. Never change a published step.
 */

import { number, type SqliteConnection } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

const migrations: readonly string[] = [
  // 1: everything. The state of a task is run (unfinished, for the engine), hand (unfinished, completed by the program) or end. The sums are how
  // many ended tasks, and how many characters, each principal ('=' and its name) and all ('*') have.
  `CREATE TABLE mortise_sessions (id TEXT PRIMARY KEY NOT NULL, record TEXT NOT NULL, version INTEGER NOT NULL, expires_at_ms REAL NOT NULL);
   CREATE INDEX mortise_sessions_expiry ON mortise_sessions (expires_at_ms);
   CREATE TABLE mortise_states (id TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, expires_at_ms REAL NOT NULL);
   CREATE INDEX mortise_states_expiry ON mortise_states (expires_at_ms);
   CREATE TABLE mortise_claims (id TEXT PRIMARY KEY NOT NULL, expires_at_ms REAL NOT NULL) WITHOUT ROWID;
   CREATE INDEX mortise_claims_expiry ON mortise_claims (expires_at_ms);
   CREATE TABLE mortise_task_handles (server TEXT, task_id TEXT, record TEXT NOT NULL, PRIMARY KEY (server, task_id)) WITHOUT ROWID;

   CREATE TABLE mortise_streams (
     session_id TEXT NOT NULL,
     stream_id TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     is_finished INTEGER NOT NULL,
     about TEXT,
     expires_at_ms REAL NOT NULL,
     PRIMARY KEY (session_id, stream_id)
   ) WITHOUT ROWID;
   CREATE INDEX mortise_streams_expiry ON mortise_streams (expires_at_ms);
   -- The place of an event in its stream: those beyond the limit are found without counting.
   CREATE TABLE mortise_events (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     session_id TEXT NOT NULL,
     stream_id TEXT NOT NULL,
     message TEXT,
     place INTEGER NOT NULL,
     expires_at_ms REAL NOT NULL
   );
   CREATE INDEX mortise_events_of_stream ON mortise_events (session_id, stream_id, number);
   CREATE INDEX mortise_events_expiry ON mortise_events (expires_at_ms);

   CREATE TABLE mortise_tasks (
     id TEXT PRIMARY KEY NOT NULL,
     principal TEXT NOT NULL,
     record TEXT NOT NULL,
     version INTEGER NOT NULL,
     state TEXT NOT NULL,
     created_at_ms REAL NOT NULL,
     expires_at_ms REAL,
     ended_at_ms REAL,
     owner TEXT,
     held_until_ms REAL NOT NULL
   );
   CREATE INDEX mortise_tasks_of_principal ON mortise_tasks (principal, created_at_ms, id);
   CREATE INDEX mortise_tasks_open ON mortise_tasks (principal, expires_at_ms) WHERE state <> 'end';
   CREATE INDEX mortise_tasks_expiry ON mortise_tasks (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
   CREATE INDEX mortise_tasks_ended ON mortise_tasks (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
   CREATE INDEX mortise_tasks_ended_of_principal ON mortise_tasks (principal, ended_at_ms) WHERE ended_at_ms IS NOT NULL;
   CREATE INDEX mortise_tasks_held ON mortise_tasks (held_until_ms) WHERE state = 'run';
   CREATE INDEX mortise_tasks_owned ON mortise_tasks (owner, id, version) WHERE state = 'run';
   CREATE TABLE mortise_steps (task_id TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (task_id, key)) WITHOUT ROWID;
   CREATE TABLE mortise_task_owners (owner TEXT PRIMARY KEY NOT NULL, until_ms REAL NOT NULL) WITHOUT ROWID;

   CREATE TABLE mortise_task_sums (owner TEXT PRIMARY KEY NOT NULL, ended INTEGER NOT NULL, characters INTEGER NOT NULL) WITHOUT ROWID;
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
