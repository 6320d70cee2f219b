/** Names of tools, for people and for a model that has the tools of several servers, and the hints of tools. */

import type { BaseMetadata, Tool } from '@mortise/protocol/model';

/** The tools of one server. */
export interface NamedTools {
  /** The program's own name for the server, such as its key in a configuration. Never `serverInfo.name`, which the server chose and which is not unique. */
  readonly server: string;
  readonly tools: readonly Tool[];
}

/** Where a tool is. */
export interface ToolPlace {
  readonly server: string;
  readonly tool: Tool;
}

const MAX_LENGTH = 128;

/**
 * Gives each tool of several servers a name that no other has: its own where it is the only one of that name, else
 * `server_tool`, and a number behind it where even that is taken. All names keep to the rule for tool names.
 *
 * @returns Name to place, in the order of the servers and their lists.
 * @see 2026-07-28 server/tools#tool-names
 */
export function uniqueToolNames(servers: readonly NamedTools[]): ReadonlyMap<string, ToolPlace> {
  const counts = new Map<string, number>();
  for (const { tools } of servers) for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const places = new Map<string, ToolPlace>();
  for (const { server, tools } of servers) {
    for (const tool of tools) {
      const wanted = counts.get(tool.name) === 1 ? tool.name : `${server.replaceAll(/[^A-Za-z0-9_.-]/gu, '-')}_${tool.name}`;
      let name = wanted.slice(0, MAX_LENGTH);
      // Another tool's own name is not given away.
      for (let n = 2; places.has(name) || (name !== tool.name && counts.has(name)); n += 1)
        name = `${wanted.slice(0, MAX_LENGTH - 1 - String(n).length)}_${n}`;
      places.set(name, { server, tool });
    }
  }
  return places;
}

/**
 * Gives the name that people read: `title`, else a tool's `annotations.title`, else `name`.
 *
 * @see 2026-07-28 schema#basemetadata
 */
export function displayName(thing: BaseMetadata): string {
  const { title, annotations, name } = thing as BaseMetadata & { readonly annotations?: { readonly title?: unknown } };
  if (title !== undefined) return title;
  return typeof annotations?.title === 'string' ? annotations.title : name;
}

/** A tool's hints, none of them absent. */
export interface ToolHints {
  /** Changes nothing. */
  readonly isReadOnly: boolean;
  /** May destroy something. Never for a read-only tool. */
  readonly isDestructive: boolean;
  /** The same call again changes nothing more. Always for a read-only tool. */
  readonly isIdempotent: boolean;
  /** Deals with things outside a closed set, such as the web. */
  readonly isOpenWorld: boolean;
}

/**
 * Gives a tool's hints with the defaults where the server was silent.
 *
 * A server may say of its tools what it likes. Unless you trust the server, show its hints but decide nothing by them: `isTrusted: false`
 * gives the cautious answer whatever the server says.
 *
 * @param options.isTrusted Whether to believe the server. @default true
 * @see 2026-07-28 schema#toolannotations
 */
export function toolHints(tool: Pick<Tool, 'annotations'>, options: { readonly isTrusted?: boolean } = {}): ToolHints {
  const said = options.isTrusted === false ? {} : (tool.annotations ?? {});
  const isReadOnly = said.readOnlyHint === true;
  return {
    isReadOnly,
    isDestructive: !isReadOnly && said.destructiveHint !== false,
    isIdempotent: isReadOnly || said.idempotentHint === true,
    isOpenWorld: said.openWorldHint !== false,
  };
}
