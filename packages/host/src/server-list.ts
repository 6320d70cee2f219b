/** One list of one server (tools, prompts, resources or templates): read when first needed, and again after a change. */

import type { McpClient } from '@mortise/client';
import { InvalidResponseError, type JsonValue } from '@mortise/jsonrpc-core';
import { exposedName } from './names.ts';
import { hasCapability } from '@mortise/protocol/checks';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';

/** The lists of a server: the type of their items, by name. */
export interface ListedItems {
  readonly tools: Tool;
  readonly prompts: Prompt;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
}

/** The name of a list. */
export type ListName = keyof ListedItems;

/** How many items of one list are read, and how many characters of JSON they may have together. */
const MAX_ITEMS = 10_000;
const MAX_CHARACTERS = 4_000_000;

const CAPABILITIES = { tools: 'tools', prompts: 'prompts', resources: 'resources', resourceTemplates: 'resources' } as const;

/** The lists of one connection to a server. */
export class ServerLists {
  readonly #server: string;
  readonly #client: McpClient;
  readonly #report: (error: Error) => void;
  readonly #known = new Map<ListName, Promise<readonly unknown[]>>();

  constructor(server: string, client: McpClient, report: (error: Error) => void) {
    this.#server = server;
    this.#client = client;
    this.#report = report;
  }

  /**
   * Returns a list; an empty one if the server does not offer it. A failed read is tried again at the next call.
   *
   * @param isFresh Whether a list that may have changed unnoticed is read again.
   */
  get<N extends ListName>(name: N, isFresh: boolean): Promise<readonly ListedItems[N][]> {
    const known = this.#known.get(name);
    if (known && !(isFresh && !this.reportsChanges(name))) return known as Promise<readonly ListedItems[N][]>;
    const read = this.#read(name);
    this.#known.set(name, read);
    read.catch(() => this.#known.get(name) === read && this.#known.delete(name));
    return read;
  }

  /** Whether the server says when a list changes. */
  reportsChanges(name: ListName): boolean {
    return hasCapability(this.#client.serverCapabilities, `${CAPABILITIES[name]}.listChanged`);
  }

  /** Forgets a list after a change. */
  forget(name: ListName): void {
    this.#known.delete(name);
  }

  async #read<N extends ListName>(name: N): Promise<readonly ListedItems[N][]> {
    if (this.#client.serverCapabilities[CAPABILITIES[name]] === undefined) return [];
    const items: ListedItems[N][] = [];
    const names = new Set<string>();
    let characters = 0;
    for await (const item of this.#client[name]() as AsyncIterable<ListedItems[N]>) {
      characters += JSON.stringify(item as unknown as JsonValue).length;
      if (items.length >= MAX_ITEMS || characters > MAX_CHARACTERS) {
        const limit = `${MAX_ITEMS} items and ${MAX_CHARACTERS} characters`;
        this.#report(new InvalidResponseError(`the list "${name}" is longer than ${limit}: the rest is left out`));
        break;
      }
      // Models and users must not see different tools under one name.
      const shown = name === 'tools' || name === 'prompts' ? exposedName(this.#server, item.name) : undefined;
      if (shown !== undefined && names.size === names.add(shown).size)
        this.#report(new InvalidResponseError(`the list "${name}" has "${shown}" twice: only the first counts`));
      else items.push(item);
    }
    return items;
  }
}
