/** The quickstart's server: what it offers, with no word about how it is reached. `server.ts` serves it over stdio. */

import { setTimeout as wait } from 'node:timers/promises';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { z } from 'zod';
import { type Library, readDocuments, searchDocuments } from './documents.ts';
import { currencies, startRatesApi, type RatesApi } from './rates-api.ts';

const names = ['Ada', 'Alan', 'Barbara', 'Grace', 'Margaret'];

/** A server, and what must be closed with it. */
export interface Quickstart {
  readonly server: McpServer;
  close(): Promise<void>;
}

/**
 * Builds the quickstart's server.
 *
 * @param documentsRoot The folder whose Markdown files `search_docs` searches.
 */
export function createQuickstart(documentsRoot: string): Quickstart {
  // Neither is made before somebody asks for it: a host waits for the server to start.
  let documents: Promise<Library> | undefined;
  let ratesApi: Promise<RatesApi> | undefined;
  const server = new McpServer(
    { name: 'quickstart', version: '1.0.0', title: 'Mortise quickstart' },
    { instructions: 'A calculator, a search over the documents of the Mortise repository, currency conversion and a slow countdown.' },
  );
  addCalculator(server);
  addDocuments(server, () => (documents ??= readDocuments(documentsRoot)));
  addCurrencies(server, () => (ratesApi ??= startRatesApi()));
  addCountdown(server);
  addGreetings(server);
  return {
    server,
    async close() {
      await server.close();
      await (await ratesApi)?.close();
    },
  };
}

/** Two tools with structured output, one of which can fail, and a prompt about them. */
function addCalculator(server: McpServer): void {
  const operands = { a: z.number(), b: z.number() };
  const result = { result: z.number() };
  server.registerTool(
    'add',
    { title: 'Addition', description: 'Adds two numbers', inputSchema: operands, outputSchema: result },
    ({ a, b }) => ({ structuredContent: { result: a + b } }),
  );
  server.registerTool(
    'divide',
    { title: 'Division', description: 'Divides a by b; b must not be 0', inputSchema: operands, outputSchema: result },
    ({ a, b }) => {
      if (b === 0) return { isError: true, content: [{ type: 'text', text: 'divide: "b" must not be 0; nothing can be divided by it' }] };
      return { structuredContent: { result: a / b } };
    },
  );

  server.registerPrompt(
    'explain_calculation',
    {
      title: 'Explain a calculation',
      description: 'Asks the model to explain an operation step by step',
      argsSchema: {
        operation: completable(z.string(), (value) =>
          ['addition', 'division', 'multiplication', 'subtraction'].filter((one) => one.startsWith(value)),
        ),
      },
    },
    ({ operation }) => `Explain ${operation} to a child, step by step, with one worked example.`,
  );
}

/** A search that returns links, and the documents that they lead to. */
function addDocuments(server: McpServer, documents: () => Promise<Library>): void {
  server.registerTool(
    'search_docs',
    {
      title: 'Search the documents',
      description: 'Searches the Markdown files of the Mortise repository and returns links to the best ones',
      inputSchema: { query: z.string().min(1), limit: z.number().int().min(1).max(20).default(3) },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ query, limit }) => {
      const hits = searchDocuments((await documents()).values(), query, limit);
      if (hits.length === 0) return `No document mentions "${query}".`;
      return hits.map(({ document, mentions }) => ({
        type: 'resource_link' as const,
        uri: `docs:///${document.path}`,
        name: document.path,
        title: document.title,
        description: `Mentions the words ${mentions} times`,
        mimeType: 'text/markdown',
      }));
    },
  );

  server.registerResource(
    'document',
    new ResourceTemplate('docs:///{+path}', {
      list: async () => ({
        resources: [...(await documents()).values()].map(({ path, title }) => ({
          uri: `docs:///${path}`,
          name: path,
          title,
          mimeType: 'text/markdown',
        })),
      }),
      complete: { path: async (value) => [...(await documents()).keys()].filter((path) => path.startsWith(value)) },
    }),
    { title: 'Document', description: 'A Markdown file of the Mortise repository', mimeType: 'text/markdown' },
    async (_uri, { path }) => (await documents()).get(String(path))?.text,
  );
}

/** A tool that asks an HTTP API. */
function addCurrencies(server: McpServer, rates: () => Promise<RatesApi>): void {
  server.registerTool(
    'convert_currency',
    {
      title: 'Convert money',
      description: 'Converts an amount between currencies by asking an HTTP API',
      inputSchema: { amount: z.number().positive(), from: z.enum(currencies), to: z.enum(currencies) },
      outputSchema: { amount: z.number(), rate: z.number() },
    },
    async ({ amount, from, to }, ctx) => {
      const { url } = await rates();
      const response = await fetch(`${url}/rate?${new URLSearchParams({ from, to })}`, { signal: ctx.signal });
      const { rate } = z.object({ rate: z.number() }).parse(await response.json());
      return { structuredContent: { amount: Number((amount * rate).toFixed(2)), rate } };
    },
  );
}

/** A slow tool that tells how far it is and stops when told. */
function addCountdown(server: McpServer): void {
  server.registerTool(
    'count_down',
    {
      title: 'Count down',
      description: 'Counts down slowly and reports its progress; can be cancelled',
      inputSchema: { steps: z.number().int().min(1).max(1000), stepMs: z.number().int().min(1).max(1000).default(20) },
    },
    async ({ steps, stepMs }, ctx) => {
      for (let step = 1; step <= steps; step++) {
        await wait(stepMs, undefined, { signal: ctx.signal });
        await ctx.progress({ progress: step, total: steps, message: `${steps - step} to go` });
      }
      return 'Lift-off.';
    },
  );
}

/** A resource whose address has a variable, which can be completed. */
function addGreetings(server: McpServer): void {
  server.registerResource(
    'greeting',
    new ResourceTemplate('greeting://{name}', {
      list: undefined,
      complete: { name: (value) => names.filter((name) => name.startsWith(value)) },
    }),
    { title: 'Greeting', description: 'Greets whoever is named in the address', mimeType: 'text/plain' },
    (_uri, { name }) => `Hello, ${name}!`,
  );
}
