/** The layout of a database file before step 3 of the migrations. */

export const LAYOUT_2: string = `
CREATE TABLE mortise_schema (version INTEGER NOT NULL);
INSERT INTO mortise_schema VALUES (2);
CREATE TABLE mortise_tasks (
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
) WITHOUT ROWID;
CREATE TABLE mortise_sessions (
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
CREATE INDEX mortise_claims_expiry ON mortise_claims (expires_at_ms);
`;
