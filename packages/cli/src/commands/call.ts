/** `mortise call`: calls a tool, with progress and, where the server makes one, a task. */

import type { McpClient } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult, Tool } from '@mortise/protocol/model';
import type { TaskHandle } from '@mortise/tasks/client';
import type { Command } from 'commander';
import { CliError, ExitCode } from '../errors.ts';
import { renderBlock } from '../render.ts';
import { addServerCommand, type ServerCommandOptions, useServer } from '../server-command.ts';
import { parseTarget } from '../target.ts';
import { clean, cleanLine, type Terminal } from '../terminal.ts';
import { describeArguments, missingArguments, toArgument, toArguments } from '../tool-arguments.ts';

export function addCall(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'call <tool> [arguments...]', 'Call a tool: key=value, key:=json, one JSON object, or @file.json')
    .addHelpText('after', '\nExamples:\n  mortise call server.ts add a=1 b=2\n  mortise call server.ts add \'{"a": 1, "b": 2}\'')
    .option('--detach', 'start a task where the tool allows it, print its id and end')
    .action((server: string, name: string, words: readonly string[], options: ServerCommandOptions & { readonly detach?: boolean }) =>
      useServer(terminal, server, options, async ({ client, tasks }) => {
        const tool = await findTool(client, name);
        const args = await completeArguments(tool, toArguments(tool, words, terminal.io.cwd), terminal);
        const { signal } = terminal.io;
        if (options.detach === true) {
          const isProgram = options.config === undefined && parseTarget(server, options, terminal.io.cwd).type === 'stdio';
          return printStarted(await tasks.start(tool.name, args, { signal }), terminal, isProgram);
        }
        printResult(await client.callTool(tool.name, args, { signal, onProgress: showProgress(terminal) }), terminal);
      }),
    );
}

/** Finds a tool by its name. @throws {CliError} The server has none of that name. */
export async function findTool(client: McpClient, name: string): Promise<Tool> {
  const names: string[] = [];
  for await (const tool of client.tools()) {
    if (tool.name === name) return tool;
    names.push(tool.name);
  }
  const known = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', ...' : ''}`;
  throw new CliError(`The server has no tool "${cleanLine(name)}": ${cleanLine(known)}`);
}

/** Asks the user for required arguments that are missing. */
async function completeArguments(tool: Tool, given: JsonObject, terminal: Terminal): Promise<JsonObject> {
  const args = { ...given };
  for (const key of missingArguments(tool, given)) {
    const text = await terminal.ask(`${cleanLine(key)}: `);
    if (text === undefined) {
      const takes = `${tool.name}(${describeArguments(tool)})`;
      throw new CliError(`argument "${cleanLine(key)}" is missing: ${cleanLine(takes)}, so add ${cleanLine(key)}=<value>`);
    }
    args[key] = toArgument(tool, key, text);
  }
  return args;
}

const BAR = 24;

function showProgress(
  terminal: Terminal,
): (update: { progress: number; total?: number | undefined; message?: string | undefined }) => void {
  return ({ progress, total, message = '' }) => {
    const share = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total));
    const done = Math.round((share ?? 0) * BAR);
    const bar = share === undefined ? String(progress) : `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.floor(share * 100)} %`;
    terminal.status(`${bar} ${cleanLine(message)}`);
  };
}

/** Prints a task's id, or the result of a call that made no task. @param isProgram Whether the server ends with this command. */
async function printStarted(task: TaskHandle, terminal: Terminal, isProgram: boolean): Promise<void> {
  const { id } = task;
  if (id === undefined) return printResult(await task.result(), terminal);
  if (terminal.isJson) terminal.printJson({ taskId: id });
  else terminal.print(cleanLine(id));
  const warning = 'the server ends with this command, and the task with it unless it is stored: use a URL, or leave out --detach';
  if (isProgram) terminal.note(`${terminal.styleNote('yellow', 'warning')}: ${warning}`);
}

export function printResult(result: CallToolResult, terminal: Terminal): void {
  if (result.isError === true) terminal.exitCode = ExitCode.failed;
  if (terminal.isJson) return terminal.printJson(result);
  const blocks = result.content.map((block) => renderBlock(terminal, block));
  if (result.isError === true) terminal.note(terminal.styleNote('red', 'The tool failed:'));
  for (const block of blocks) terminal.print(block);
  const { structuredContent } = result;
  if (structuredContent !== undefined && !isMirrored(result)) terminal.print(clean(JSON.stringify(structuredContent, null, 2)));
}

/** Whether the text says the same as the structured content: as JSON, as the specification recommends, or with each of its strings. */
function isMirrored({ content, structuredContent }: CallToolResult): boolean {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const values = isJsonObject(structuredContent) ? Object.values(structuredContent) : [];
  if (values.length > 0 && values.every((value) => typeof value === 'string' && text.includes(value.trim()))) return true;
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structuredContent);
  } catch {
    return false;
  }
}
