/** `mortise read`, `prompt` and `complete`. */

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { GetPromptResult, PromptReference, ReadResourceResult, ResourceTemplateReference } from '@mortise/protocol/model';
import type { Command } from 'commander';
import { CliError, ExitCode } from '../errors.ts';
import { indent, renderBlock, renderContents } from '../render.ts';
import { addServerCommand, type ServerCommandOptions, useServer } from '../server-command.ts';
import { clean, type Terminal } from '../terminal.ts';

export function addGetters(program: Command, terminal: Terminal): void {
  const { signal } = terminal.io;
  addServerCommand(program, 'read <uri>', 'Read a resource')
    .option('-o, --output <file>', 'write the content to a file, binary or text')
    .action((server: string, uri: string, options: ServerCommandOptions & { readonly output?: string }) =>
      useServer(terminal, server, options, async ({ client }) => {
        const result = await client.readResource(uri, { signal });
        if (options.output !== undefined) save(result, resolve(terminal.io.cwd, options.output), terminal);
        else if (terminal.isJson) terminal.printJson(result);
        else terminal.print(renderContents(terminal, result.contents));
      }),
    );

  addServerCommand(program, 'prompt <name> [arguments...]', 'Get a prompt: key=value for each argument').action(
    (server: string, name: string, words: readonly string[], options: ServerCommandOptions) =>
      useServer(terminal, server, options, async ({ client }) => {
        const result = await client.getPrompt(name, toTexts(words), { signal });
        if (terminal.isJson) terminal.printJson(result);
        else printPrompt(result, terminal);
      }),
  );

  addServerCommand(
    program,
    'complete <of> <argument> [value] [others...]',
    'Complete an argument of a prompt (its name) or a resource template (its URI); others: key=value for what is filled in already',
  ).action((server: string, of: string, name: string, value = '', words: readonly string[], options: ServerCommandOptions) =>
    useServer(terminal, server, options, async ({ client }) => {
      const context = words.length === 0 ? {} : { context: { arguments: toTexts(words) } };
      const { completion } = await client.complete({ ref: toReference(of), argument: { name, value }, ...context }, { signal });
      if (terminal.isJson) return terminal.printJson(completion);
      if (completion.values.length === 0) terminal.note('no suggestions');
      for (const found of completion.values) terminal.print(clean(found));
      if (completion.hasMore === true) terminal.note(terminal.styleNote('dim', `of ${completion.total ?? 'more'}`));
    }),
  );
}

const toReference = (of: string): PromptReference | ResourceTemplateReference =>
  /^[a-z][a-z0-9+.-]*:/i.test(of) ? { type: 'ref/resource', uri: of } : { type: 'ref/prompt', name: of };

function toTexts(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=');
      if (at < 1) throw new CliError(`"${clean(word)}" is not a valid argument: write key=value`);
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

function save({ contents }: ReadResourceResult, file: string, terminal: Terminal): void {
  const [first, ...others] = contents;
  if (!first) throw new CliError('The resource has no content');
  const data = typeof first.text === 'string' ? Buffer.from(first.text) : fromBase64(first.blob ?? '');
  try {
    writeFileSync(file, data);
  } catch (error) {
    throw new CliError(`${clean(file)} cannot be written`, undefined, { cause: error });
  }
  terminal.note(`${data.length} bytes written to ${file}${others.length === 0 ? '' : `; ${others.length} more contents were left out`}`);
}

/** @throws {CliError} The server sent something else. */
function fromBase64(text: string): Buffer {
  if (/^[a-z0-9+/=\s]*$/i.test(text)) return Buffer.from(text, 'base64');
  throw new CliError('The server sent no base64 as the content of the resource, nothing was written', ExitCode.failed);
}

function printPrompt({ description, messages }: GetPromptResult, terminal: Terminal): void {
  if (description !== undefined) terminal.note(terminal.styleNote('dim', clean(description)));
  for (const { role, content } of messages) {
    terminal.print(terminal.style('bold', `${role}:`));
    for (const block of [content].flat()) terminal.print(indent(renderBlock(terminal, block)));
  }
}
