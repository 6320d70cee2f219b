/** `mortise task`: asks about a task that `mortise call --detach` left running, waits for it, or cancels it. */

import type { TaskHandle, TaskState } from '@mortise/tasks/client';
import type { Command } from 'commander';
import { addServerCommand, type ServerCommandOptions, useServer } from '../server-command.ts';
import { clean, type Terminal } from '../terminal.ts';
import { printResult } from './call.ts';

interface TaskCommandOptions extends ServerCommandOptions {
  readonly wait?: boolean;
  readonly cancel?: boolean;
}

export function addTask(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'task <id>', 'Show the state of a task; "call --detach" prints ids')
    .option('--wait', 'wait for the result and print it')
    .option('--cancel', 'cancel the task')
    // An id is any text, and may begin with "-".
    .allowUnknownOption()
    .action((server: string, id: string, options: TaskCommandOptions) =>
      useServer(terminal, server, options, async ({ tasks }) => {
        const task = tasks.resumeTask(id);
        if (options.cancel === true) await task.cancel();
        if (options.wait === true) printResult(await waitFor(task, terminal), terminal);
        else printState(await task.status({ signal: terminal.io.signal }), terminal);
      }),
    );
}

async function waitFor(task: TaskHandle, terminal: Terminal): ReturnType<TaskHandle['result']> {
  const { signal } = terminal.io;
  for await (const { status, statusMessage } of task.updates({ signal })) terminal.status(clean(`${status} ${statusMessage ?? ''}`));
  return task.result({ signal });
}

function printState(state: TaskState, terminal: Terminal): void {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = state;
  // In the modern era a state also has the result; `--wait` prints it in both.
  if (terminal.isJson) return terminal.printJson({ taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs });
  terminal.print(`${terminal.style('bold', clean(taskId))} ${status}${statusMessage === undefined ? '' : `: ${clean(statusMessage)}`}`);
  if (createdAt !== undefined) terminal.print(`  created ${clean(createdAt)}, changed ${clean(lastUpdatedAt ?? createdAt)}`);
  terminal.print(`  kept for ${ttlMs === null ? 'ever' : `${ttlMs / 1000} s after it was created`}`);
}
