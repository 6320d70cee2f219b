/** What the explorer offers for one database. `server.ts` opens it and serves this over stdio. */

import { completable, McpServer, ResourceTemplate, ToolError } from '@mortise/server';
import { z } from 'zod';
import type { Database, Row } from './open-database.ts';
import { runStatement } from './run-statement.ts';

/** What to look into, and how far. */
export interface ExplorerOptions {
  /** Its file: each statement opens it in a process of its own. */
  readonly path: string;
  /** A read-only connection, for the names of tables and columns. */
  readonly database: Database;
  /** Adds the tool `change`. */
  readonly allowsWrites: boolean;
  /** How long one statement may take, in milliseconds. */
  readonly timeoutMs: number;
}

const statement = {
  sql: z.string().min(1).describe('One statement; write ? for each value'),
  parameters: z
    .array(z.union([z.string(), z.number(), z.null()]))
    .max(100)
    .default([])
    .describe('The values of the question marks, in order'),
};

/** Builds the server. */
export function createExplorer({ path, database, allowsWrites, timeoutMs }: ExplorerOptions): McpServer {
  const server = new McpServer(
    { name: 'sqlite-explorer', version: '1.0.0', title: 'SQLite explorer' },
    { instructions: 'Call list_tables and describe_table before you write a query. Pass values as parameters, not inside the SQL.' },
  );
  const tables = readTables(database);

  server.registerTool(
    'list_tables',
    {
      description: 'Lists the tables and views of the database',
      outputSchema: { tables: z.array(z.object({ name: z.string(), type: z.string() })) },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () => ({ structuredContent: { tables: tables.list().map(({ name, type }) => ({ name, type })) } }),
  );
  server.registerTool(
    'describe_table',
    {
      description: 'Lists the columns of a table or view',
      inputSchema: { table: z.string() },
      outputSchema: {
        columns: z.array(z.object({ name: z.string(), type: z.string(), isRequired: z.boolean(), references: z.string().optional() })),
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ table }) => {
      tables.find(table);
      return { structuredContent: { columns: tables.columns(table) } };
    },
  );
  server.registerTool(
    'query',
    {
      description: 'Runs one SQL query and returns its rows. It cannot change the database',
      inputSchema: { ...statement, limit: z.number().int().min(1).max(500).default(50).describe('The most rows to return') },
      outputSchema: { rows: z.array(z.record(z.string(), z.unknown())), isTruncated: z.boolean() },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (input, ctx) => ({
      structuredContent: await runStatement({ kind: 'query', database: path, ...input }, { signal: ctx.signal, timeoutMs }),
    }),
  );
  if (allowsWrites) {
    server.registerTool(
      'change',
      {
        description: 'Runs one SQL statement that changes the database: INSERT, UPDATE, DELETE, CREATE and the like',
        inputSchema: statement,
        outputSchema: { changes: z.number() },
        annotations: { destructiveHint: true, openWorldHint: false },
      },
      async (input, ctx) => ({
        structuredContent: await runStatement({ kind: 'change', database: path, limit: 0, ...input }, { signal: ctx.signal, timeoutMs }),
      }),
    );
  }

  server.registerResource(
    'table',
    new ResourceTemplate('table:///{name}', {
      list: () => ({
        resources: tables.list().map(({ name }) => ({ uri: `table:///${encodeURIComponent(name)}`, name, mimeType: 'application/sql' })),
      }),
      complete: { name: (start) => tables.startingWith(start) },
    }),
    { description: 'The statement that made a table or view', mimeType: 'application/sql' },
    (_uri, { name }) => tables.list().find((table) => table.name === name)?.sql,
  );
  server.registerPrompt(
    'explore_table',
    {
      description: 'Asks the model what is in a table, and for three queries that show it',
      argsSchema: { table: completable(z.string(), (start) => tables.startingWith(start)) },
    },
    ({ table }) =>
      `Here is a table of a SQLite database:\n\n${tables.find(table).sql}\n\nSay in two sentences what it holds. Then run three queries that show something about its rows.`,
  );
  return server;
}

interface Table {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

/** The names in the database, read anew each time: a change may have added a table. */
function readTables(database: Database) {
  const read = (sql: string, ...values: string[]): Row[] => [...database.prepare(sql).iterate(...values)];
  const list = (): Table[] =>
    read(
      `SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name LIMIT 1000`,
    ).map(({ name, type, sql }) => ({ name: String(name), type: String(type), sql: String(sql) }));
  return {
    list,
    startingWith: (start: string) => list().flatMap(({ name }) => (name.startsWith(start) ? [name] : [])),
    find(name: string): Table {
      const found = list().find((table) => table.name === name);
      if (found === undefined) throw new ToolError(`There is no table "${name}"; list_tables names them`);
      return found;
    },
    /** A name can be a parameter here, because pragmas are tables too. */
    columns(table: string) {
      const foreign = read('SELECT "from", "table" FROM pragma_foreign_key_list(?)', table);
      return read('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', table).map(({ name, type, notnull, pk }) => {
        const target = foreign.find(({ from }) => from === name)?.['table'];
        return {
          name: String(name),
          type: String(type),
          isRequired: notnull === 1 || Number(pk) > 0,
          ...(target !== undefined && { references: String(target) }),
        };
      });
    },
  };
}
