/** The server: the tables of one SQLite database as tools, resources and a prompt. */

import { completable, McpServer, ResourceTemplate, ToolError } from '@mortise/server';
import { z } from 'zod';
import { askSqlite } from './ask-sqlite.ts';

export interface ExplorerOptions {
  /** Adds the tool `execute`, for statements that change the database. */
  readonly allowWrites: boolean;
}

interface ReadOptions {
  readonly params?: readonly (string | number | null)[];
  readonly maxRows?: number;
  /** Ends the query when it aborts. */
  readonly signal?: AbortSignal;
}

const MAX_ROWS = 200;
const READS = { readOnlyHint: true, openWorldHint: false };
const statement = {
  sql: z.string().max(10_000),
  params: z
    .array(z.union([z.string(), z.number(), z.null()]))
    .max(100)
    .default([]),
};
const result = { columns: z.array(z.string()), rows: z.array(z.record(z.string(), z.unknown())), isCut: z.boolean() };
type Rows = z.infer<z.ZodObject<typeof result>>;

/** @param database The path of the database file. */
export function createExplorer(database: string, { allowWrites }: ExplorerOptions): McpServer {
  const server = new McpServer(
    { name: 'sqlite-explorer', version: '1.0.0', title: 'SQLite explorer' },
    { instructions: 'Read sqlite://schema first. Then query with one SELECT and "?" for each value.' },
  );
  const read = async (sql: string, { params = [], maxRows = MAX_ROWS, signal }: ReadOptions = {}): Promise<Rows> =>
    (await askSqlite({ database, isReadOnly: true, sql, params, maxRows }, signal)) as Rows;
  const listTables = async (): Promise<readonly string[]> => {
    const { rows } = await read(
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name",
    );
    return rows.map(({ name }) => String(name));
  };
  const completeTable = async (value: string): Promise<readonly string[]> => (await listTables()).filter((name) => name.startsWith(value));
  const readSchema = async (): Promise<string> => {
    const { rows } = await read('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name');
    return rows.map(({ sql }) => `${String(sql)};`).join('\n');
  };
  /** The name of a table as SQL writes it. */
  const quote = async (table: string): Promise<string> => {
    const tables = await listTables();
    if (!tables.includes(table)) throw new ToolError(`there is no table "${table}"; there are ${tables.join(', ')}`);
    return `"${table.replaceAll('"', '""')}"`;
  };

  server.registerTool(
    'describe_table',
    {
      description: 'Columns, foreign keys and number of rows of a table',
      inputSchema: { table: z.string() },
      outputSchema: { rows: z.number(), columns: z.array(z.unknown()), foreignKeys: z.array(z.unknown()) },
      annotations: READS,
    },
    async ({ table }) => {
      const name = await quote(table);
      const [count, columns, foreignKeys] = await Promise.all([
        read(`SELECT count(*) AS rows FROM ${name}`),
        read('SELECT name, type, "notnull" AS isRequired, pk AS primaryKey FROM pragma_table_info(?)', { params: [table] }),
        read('SELECT "from" AS "column", "table", "to" AS "references" FROM pragma_foreign_key_list(?)', { params: [table] }),
      ]);
      return { structuredContent: { rows: Number(count.rows[0]?.['rows']), columns: columns.rows, foreignKeys: foreignKeys.rows } };
    },
  );

  server.registerTool(
    'query',
    {
      description: `Runs one SELECT with "?" for each value in params; returns ${MAX_ROWS} rows at most (isCut: there are more)`,
      inputSchema: statement,
      outputSchema: result,
      annotations: READS,
    },
    async ({ sql, params }, ctx) => ({ structuredContent: await read(sql, { params, signal: ctx.signal }) }),
  );

  if (allowWrites) {
    server.registerTool(
      'execute',
      {
        description: 'Runs one statement that changes the database, with "?" for each value in params',
        inputSchema: statement,
        outputSchema: { changes: z.number() },
        annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      },
      async ({ sql, params }, ctx) => {
        const answer = await askSqlite({ database, isReadOnly: false, sql, params, maxRows: MAX_ROWS }, ctx.signal);
        return { structuredContent: answer as { changes: number } };
      },
    );
  }

  server.registerResource('schema', 'sqlite://schema', { title: 'Schema', mimeType: 'application/sql' }, () => readSchema());

  server.registerResource(
    'table',
    new ResourceTemplate('sqlite://tables/{table}', {
      list: async () => ({
        resources: (await listTables()).map((name) => ({ uri: `sqlite://tables/${encodeURIComponent(name)}`, name })),
      }),
      complete: { table: completeTable },
    }),
    { title: 'Table', description: 'The first 20 rows of a table', mimeType: 'application/json' },
    async (_uri, { table }) => JSON.stringify((await read(`SELECT * FROM ${await quote(String(table))}`, { maxRows: 20 })).rows),
  );

  server.registerPrompt(
    'explore',
    {
      description: 'Asks the model to answer a question about the data',
      argsSchema: { question: z.string(), table: completable(z.string().optional(), completeTable) },
    },
    async ({ question, table }) =>
      `Answer with the tool "query": ${question}${table === undefined ? '' : ` Begin with the table ${table}.`}\n\nThe schema:\n${await readSchema()}`,
  );
  return server;
}
