/** Which tools of a legacy server may or must be called as tasks: what its list says. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';

/** How a tool may be called. @see 2025-11-25 basic/utilities/tasks#tool-level-negotiation */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

const MAX_PAGES = 1000;

export class ToolTaskSupport {
  readonly #host: ClientExtensionHost;
  readonly #known = new Map<string, TaskSupport>();

  constructor(host: ClientExtensionHost) {
    this.#host = host;
    host.onNotification('notifications/tools/list_changed', () => this.#known.clear());
  }

  /** Remembers what a page of tools says. */
  learn(page: JsonObject): void {
    const { tools } = page;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const { execution } = tool;
      const support = isJsonObject(execution) ? execution['taskSupport'] : undefined;
      this.#known.set(tool['name'], support === 'optional' || support === 'required' ? support : 'forbidden');
    }
  }

  /** What is known already. */
  find(name: string): TaskSupport | undefined {
    return this.#known.get(name);
  }

  /** Reads the list as far as needed. A tool that is not listed cannot be a task. */
  async look(name: string): Promise<TaskSupport> {
    let cursor: unknown;
    for (let pages = 0; pages < MAX_PAGES && !this.#known.has(name); pages++) {
      const page = await this.#host.request('tools/list', typeof cursor === 'string' ? { cursor } : {});
      this.learn(page);
      if (typeof page['nextCursor'] !== 'string' || page['nextCursor'] === cursor) break;
      cursor = page['nextCursor'];
    }
    return this.#known.get(name) ?? 'forbidden';
  }
}
