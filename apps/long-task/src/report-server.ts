/** A server with one tool that takes long: it builds a report in steps, asks in the middle, and outlives the process that runs it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@mortise/server';
import type { SqliteStores } from '@mortise/store-sqlite';
import { createTasks } from '@mortise/tasks/server';
import { z } from 'zod';
import { type Book, REGIONS } from './book.ts';

/** How the server runs. */
export interface ReportServerOptions {
  readonly stores: SqliteStores;
  /** The sales, in the same database. */
  readonly book: Book;
  /** How long the work of one region takes, in milliseconds. @default 300 */
  readonly stepMs?: number;
}

/** Makes the server. Everything that it must not forget is in the stores. */
export function createReportServer({ stores, book, stepMs = 300 }: ReportServerOptions): McpServer {
  // A short lease, so that the next process takes the work up soon after a crash.
  const tasks = createTasks({ store: stores.tasks, leaseMs: 1000, pollIntervalMs: 100 });
  const server = new McpServer({ name: 'report-builder', version: '1.0.0' }, { extensions: [tasks] });

  server.registerTool(
    'build_report',
    {
      description: 'Adds up the sales of every region and writes a report. Takes long.',
      inputSchema: { title: z.string() },
      outputSchema: { title: z.string(), currency: z.string(), totals: z.record(z.string(), z.number()), number: z.int() },
      execution: { taskSupport: 'required' },
      resumable: true,
    },
    async ({ title }, ctx) => {
      const totals: Record<string, number> = {};
      let currency = 'EUR';
      for (const [index, region] of REGIONS.entries()) {
        await ctx.progress({ progress: index, total: REGIONS.length });
        await ctx.status(`adding up ${region}`);
        // A step that was recorded is not done again, whoever runs the handler next.
        totals[region] = await ctx.once(`total of ${region}`, async () => {
          await sleep(stepMs, undefined, { signal: ctx.signal });
          return book.total(region);
        });
        if (index !== 1) continue;
        const answer = await ctx.elicit({
          message: `In which currency shall "${title}" be written?`,
          requestedSchema: { currency: z.enum(['EUR', 'USD']) },
        });
        if (answer.action === 'accept') currency = answer.content.currency;
      }
      // The key stays the same however often the step runs: a second writing of one report finds the first.
      const number = await ctx.once('write', (idempotencyKey) => book.write(idempotencyKey, title, totals));
      return { structuredContent: { title, currency, totals, number } };
    },
  );

  server.registerTool('counts', { description: 'Tells how often each region was added up, and how many reports there are' }, () => ({
    structuredContent: { ...book.count() },
  }));
  return server;
}
