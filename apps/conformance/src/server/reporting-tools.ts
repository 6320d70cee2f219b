/** Tools that say something before they answer, or leave and come back. */

import { setTimeout as wait } from 'node:timers/promises';
import type { McpServer } from '@mortise/server';

const STEP_MS = 50;
const AWAY_MS = 100;

export function addReportingTools(server: McpServer): void {
  server.registerTool('test_tool_with_progress', { description: 'Reports progress in three steps' }, async (ctx) => {
    for (const progress of [0, 50, 100]) {
      await ctx.progress({ progress, total: 100, message: `${progress} of 100` });
      await wait(STEP_MS, undefined, { signal: ctx.signal });
    }
    return 'All steps are done.';
  });

  server.registerTool('test_tool_with_logging', { description: 'Logs three messages' }, async (ctx) => {
    await ctx.log.info('Tool execution started');
    await wait(STEP_MS, undefined, { signal: ctx.signal });
    await ctx.log.info('Tool processing data');
    await wait(STEP_MS, undefined, { signal: ctx.signal });
    await ctx.log.info('Tool execution completed');
    return 'Three messages were logged.';
  });

  server.registerTool('test_logging_tool', { description: 'Logs to clients that ask for it' }, async (ctx) => {
    await ctx.log.info('A message for those who asked');
    return 'Logged.';
  });

  server.registerTool('test_reconnection', { description: 'Closes its stream, and answers those who come back' }, async (ctx) => {
    ctx.closeStream();
    await wait(AWAY_MS, undefined, { signal: ctx.signal });
    return 'The answer was waiting for you.';
  });
}
