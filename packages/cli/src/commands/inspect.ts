/** `mortise inspect` and `mortise list`: what a server is, and what it offers. */

import type { McpClient } from '@mortise/client';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';
import type { Command } from 'commander';
import { indent, renderItem, renderPrompt, renderTool } from '../render.ts';
import { addServerCommand, type ServerCommandOptions, useServer } from '../server-command.ts';
import { clean, type Terminal } from '../terminal.ts';

/** All that a server lists. */
interface Offer {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

export function addInspect(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'inspect', 'Show what a server is and all that it offers').action(
    (server: string, options: ServerCommandOptions) =>
      useServer(terminal, server, options, async ({ client }) => {
        const offer = await readOffer(client);
        if (terminal.isJson) return terminal.printJson({ ...describeServer(client), ...offer });
        printServer(client, terminal);
        printOffer(offer, terminal);
      }),
  );
  addServerCommand(program, 'list', "List a server's tools, resources and prompts").action(
    (server: string, options: ServerCommandOptions) =>
      useServer(terminal, server, options, async ({ client }) => {
        const offer = await readOffer(client);
        if (terminal.isJson) terminal.printJson(offer);
        else printOffer(offer, terminal);
      }),
  );
}

/** The most entries of one list that are read: a server could list without end. */
const MAX_LISTED = 10_000;

async function readOffer(client: McpClient): Promise<Offer> {
  const { tools, resources, prompts } = client.serverCapabilities;
  return {
    tools: tools ? await collect(client.tools()) : [],
    resources: resources ? await collect(client.resources()) : [],
    resourceTemplates: resources ? await collect(client.resourceTemplates()) : [],
    prompts: prompts ? await collect(client.prompts()) : [],
  };
}

async function collect<T>(pages: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of pages) {
    items.push(item);
    if (items.length >= MAX_LISTED) break;
  }
  return items;
}

function describeServer(client: McpClient): object {
  return {
    server: client.serverInfo,
    protocolVersion: client.protocolVersion,
    era: client.era,
    capabilities: client.serverCapabilities,
    instructions: client.instructions,
  };
}

function printServer(client: McpClient, terminal: Terminal): void {
  const { name = 'A server without a name', version = '', title, websiteUrl } = client.serverInfo ?? {};
  terminal.print(`${terminal.style('bold', clean(title ?? name))} ${clean(`${title === undefined ? '' : `(${name}) `}${version}`)}`);
  terminal.print(`  protocol      ${clean(client.protocolVersion)} (${client.era} era)`);
  if (websiteUrl !== undefined) terminal.print(`  website       ${clean(websiteUrl)}`);
  terminal.print(`  capabilities  ${clean(toPaths(client.serverCapabilities).join(', ')) || 'none'}`);
  if (client.instructions !== undefined) terminal.print(`\n${indent(clean(client.instructions))}`);
}

/** The names of what is declared, one level deep: `resources.subscribe`. */
function toPaths(capabilities: object): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const inner = Object.entries(Object(value) as object).filter(([, on]) => on !== false && on !== undefined);
    return inner.length === 0 ? [name] : inner.map(([member]) => `${name}.${member}`);
  });
}

function printOffer(offer: Offer, terminal: Terminal): void {
  const resources = offer.resources.map(({ uri, name, description }) =>
    renderItem(terminal, uri, name === uri ? '' : `  ${name}`, description),
  );
  const templates = offer.resourceTemplates.map(({ uriTemplate, name, description }) =>
    renderItem(terminal, uriTemplate, `  ${name}`, description),
  );
  const sections: readonly [string, readonly string[]][] = [
    ['Tools', offer.tools.map((tool) => renderTool(terminal, tool))],
    ['Resources', resources],
    ['Resource templates', templates],
    ['Prompts', offer.prompts.map((prompt) => renderPrompt(terminal, prompt))],
  ];
  for (const [title, items] of sections) {
    if (items.length === 0) continue;
    terminal.print(`\n${terminal.style('cyan', `${title} (${items.length})`)}`);
    for (const item of items) terminal.print(indent(item));
  }
  if (sections.every(([, items]) => items.length === 0)) terminal.print('The server lists nothing.');
}
