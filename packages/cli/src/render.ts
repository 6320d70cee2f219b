/** Text for people: tools, results, resources and prompts, with all that a server sent made safe for a terminal. */

import type { ContentBlock, Prompt, ReadResourceResult, Tool } from '@mortise/protocol/model';
import { describeArguments } from './tool-arguments.ts';
import { clean, cleanLine, type Terminal } from './terminal.ts';

/** A name in bold, what follows it, and its description indented below. */
export function renderItem(terminal: Terminal, name: string, rest: string, description: string | undefined): string {
  const head = terminal.style('bold', cleanLine(name)) + terminal.style('dim', cleanLine(rest));
  return description === undefined || description === '' ? head : `${head}\n${indent(clean(description))}`;
}

export function renderTool(terminal: Terminal, tool: Tool): string {
  return renderItem(terminal, tool.name, `(${describeArguments(tool)})${hintsOf(tool)}`, tool.description ?? tool.title);
}

function hintsOf({ annotations }: Tool): string {
  const hints = [annotations?.readOnlyHint === true && 'read-only', annotations?.destructiveHint === true && 'destructive'];
  const said = hints.filter((hint) => hint !== false);
  return said.length === 0 ? '' : `  ${said.join(' and ')}, as the server says`;
}

export function renderPrompt(terminal: Terminal, prompt: Prompt): string {
  const args = (prompt.arguments ?? []).map(({ name, required }) => `${name}${required === true ? '' : '?'}`).join(', ');
  return renderItem(terminal, prompt.name, `(${args})`, prompt.description ?? prompt.title);
}

/** One block of a result. Binary content is described, not printed. */
export function renderBlock(terminal: Terminal, block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return clean(block.text);
    case 'image':
    case 'audio':
      return terminal.style('dim', `[${clean(block.mimeType)}, ${toSize(block.data)}]`);
    case 'resource_link':
      return renderItem(terminal, block.uri, block.name === block.uri ? '' : `  ${block.name}`, block.description);
    case 'resource':
      return renderContents(terminal, [block.resource]);
    default:
      return clean(JSON.stringify(block));
  }
}

export function renderContents(terminal: Terminal, contents: ReadResourceResult['contents']): string {
  return contents
    .map((one) => {
      if (typeof one.text === 'string') return clean(one.text);
      return terminal.style('dim', `[${clean(one.mimeType ?? 'binary')}, ${toSize(one.blob ?? '')}: save it with --output <file>]`);
    })
    .join('\n');
}

export const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');

/** The size of base64 data. */
function toSize(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KiB`;
}
