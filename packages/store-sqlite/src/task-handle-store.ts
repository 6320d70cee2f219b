/** `TaskHandleStore` over SQLite: for clients that go on with their tasks after they were started again. */

import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { number, type SqliteConnection, text } from './connection.ts';

/** Keeps the ids of a client's tasks in a file. */
export class SqliteTaskHandleStore implements TaskHandleStore {
  readonly #db: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#db = connection;
  }

  async add({ server, taskId, method, createdAtMs }: TaskHandleRecord): Promise<void> {
    const sql = `INSERT INTO mortise_task_handles (server, task_id, method, created_at_ms) VALUES (?, ?, ?, ?)
                 ON CONFLICT (server, task_id) DO NOTHING`;
    this.#db.run(sql, server, taskId, method, createdAtMs);
  }

  async remove(server: string, taskId: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_task_handles WHERE server = ? AND task_id = ?', server, taskId);
  }

  async list(server: string): Promise<readonly TaskHandleRecord[]> {
    const sql = 'SELECT task_id, method, created_at_ms FROM mortise_task_handles WHERE server = ? ORDER BY created_at_ms, task_id';
    return this.#db.all(sql, server).map((row) => ({
      server,
      taskId: text(row, 'task_id'),
      method: text(row, 'method'),
      createdAtMs: number(row, 'created_at_ms'),
    }));
  }
}
