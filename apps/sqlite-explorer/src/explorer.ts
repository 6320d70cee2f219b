/** The server: the tables of one SQLite database as tools, resources and a prompt. */

import { completable, type HandlerContext, McpServer, ResourceTemplate, ToolError } from '@mortise/server';
import { z } from 'zod';
import { askSqlite } from './ask-sqlite.ts';

export interface ExplorerOptions {
  /** Adds the tool `execute`, for statements that change the database. */
  readonly allowWrites: boolean;
}

interface ReadOptions {
  readonly params?: readonly (string | number | null)[];
  /** @default All. */
  readonly maxRows?: number;
  /** Ends the query when it aborts. */
  readonly signal: AbortSignal;
}

const MAX_ROWS = 200;
const SCHEMA = 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name';
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
  const read = async (sql: string, { params = [], maxRows = Number.MAX_SAFE_INTEGER, signal }: ReadOptions): Promise<Rows> =>
    (await askSqlite({ database, isReadOnly: true, sql, params, maxRows }, signal)) as Rows;
  const listTables = async (signal: AbortSignal): Promise<readonly string[]> => {
    const { rows } = await read(
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name",
      { signal },
    );
    return rows.map(({ name }) => String(name));
  };
  const completeTable = async (value: string, _context: unknown, ctx: unknown): Promise<readonly string[]> =>
    (await listTables((ctx as HandlerContext).signal)).filter((name) => name.startsWith(value));
  const readSchema = async (signal: AbortSignal): Promise<string> => {
    const { rows, isCut } = await read(SCHEMA, { maxRows: MAX_ROWS, signal });
    const more = isCut ? [`-- There are more: query ${SCHEMA} LIMIT ${MAX_ROWS} OFFSET ${MAX_ROWS}`] : [];
    return [...rows.map(({ sql }) => `${String(sql)};`), ...more].join('\n');
  };
  /** The name of a table as SQL writes it. */
  const quote = async (table: string, signal: AbortSignal): Promise<string> => {
    const tables = await listTables(signal);
    if (!tables.includes(table))
      throw new ToolError(`there is no table "${table}"; there are ${tables.length}: ${tables.slice(0, MAX_ROWS).join(', ')}`);
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
    async ({ table }, { signal }) => {
      const name = await quote(table, signal);
      const [count, columns, foreignKeys] = await Promise.all([
        read(`SELECT count(*) AS rows FROM ${name}`, { signal }),
        read('SELECT name, type, "notnull" AS isRequired, pk AS primaryKey FROM pragma_table_info(?)', { params: [table], signal }),
        read('SELECT "from" AS "column", "table", "to" AS "references" FROM pragma_foreign_key_list(?)', { params: [table], signal }),
      ]);
      return { structuredContent: { rows: Number(count.rows[0]?.['rows']), columns: columns.rows, foreignKeys: foreignKeys.rows } };
    },
  );

  server.registerTool(
    'query',
    {
      description: `Runs one SELECT with "?" for each value in params; returns ${MAX_ROWS} rows at most (isCut: there are more); integers past 2^53 are text`,
      inputSchema: statement,
      outputSchema: result,
      annotations: READS,
    },
    async ({ sql, params }, ctx) => ({ structuredContent: await read(sql, { params, maxRows: MAX_ROWS, signal: ctx.signal }) }),
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

  server.registerResource('schema', 'sqlite://schema', { title: 'Schema', mimeType: 'application/sql' }, (_uri, { signal }) =>
    readSchema(signal),
  );

  server.registerResource(
    'table',
    new ResourceTemplate('sqlite://tables/{table}', {
      list: async (ctx) => {
        const names = await listTables((ctx as HandlerContext).signal);
        return { resources: names.map((name) => ({ uri: `sqlite://tables/${encodeURIComponent(name)}`, name })) };
      },
      complete: { table: completeTable },
    }),
    { title: 'Table', description: 'The first 20 rows of a table', mimeType: 'application/json' },
    async (_uri, { table }, { signal }) =>
      JSON.stringify((await read(`SELECT * FROM ${await quote(String(table), signal)}`, { maxRows: 20, signal })).rows),
  );

  server.registerPrompt(
    'explore',
    {
      description: 'Asks the model to answer a question about the data',
      argsSchema: { question: z.string(), table: completable(z.string().optional(), completeTable) },
    },
    async ({ question, table }, { signal }) =>
      `Answer with the tool "query": ${question}${table === undefined ? '' : ` Begin with the table ${table}.`}\n\nThe schema:\n${await readSchema(signal)}`,
  );
  return server;
}
