/** What the server says that it can do: what was declared, what is registered, what extensions have. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision, ServerCapabilities } from '@mortise/protocol';
import { serverCapabilitiesFor } from '@mortise/protocol/revisions';
import { hasCapability } from '@mortise/protocol/checks';
import type { Principal, ServerExtension } from '@mortise/protocol/contracts';

/** Who asks for capabilities. */
export interface CapabilityAudience {
  readonly via: 'channel' | 'exchange';
  readonly principal: Principal;
  readonly isAuthenticated: boolean;
  /** Whether notifications and requests can reach the client outside its own requests. */
  readonly canReach: boolean;
}

export class CapabilityBook {
  readonly #extensions: readonly ServerExtension[];
  #declared: ServerCapabilities;
  #registered: ServerCapabilities = {};
  /** Declared and registered together, by revision. */
  #own = new Map<Revision, ServerCapabilities>();

  constructor(declared: ServerCapabilities = {}, extensions: readonly ServerExtension[] = []) {
    this.#declared = declared;
    this.#extensions = extensions;
  }

  /** Adds to what the program declared. */
  declare(capabilities: ServerCapabilities): void {
    this.#declared = merge(this.#declared, capabilities);
    this.#own = new Map();
  }

  /** Says what registering something shows. What the program declared wins. @returns Whether that is new. */
  register(name: string, capability: JsonObject): boolean {
    if (Object.hasOwn(this.#registered, name)) return false;
    this.#registered = { ...this.#registered, [name]: capability };
    this.#own = new Map();
    return true;
  }

  /** Whether a capability, dotted for a nested one, is advertised in a revision, extensions' own ones apart. */
  has(revision: Revision, dotted: string): boolean {
    let own = this.#own.get(revision);
    if (!own) this.#own.set(revision, (own = serverCapabilitiesFor(revision, merge(this.#registered, this.#declared))));
    return hasCapability(own, dotted);
  }

  /** What a client is shown. */
  advertise(revision: Revision, audience: CapabilityAudience): ServerCapabilities {
    let capabilities = merge(this.#registered, this.#declared);
    for (const extension of this.#extensions) {
      const own = extension.capabilities?.(revision, audience);
      if (own) capabilities = merge(capabilities, own as ServerCapabilities);
      if (extension.settings) capabilities = merge(capabilities, { extensions: { [extension.id]: extension.settings } });
    }
    const shown = serverCapabilitiesFor(revision, capabilities);
    return audience.canReach ? shown : withoutChangeNotifications(shown);
  }
}

function merge(under: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, JsonValue | undefined> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const below = merged[key];
    merged[key] = isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value;
  }
  return merged;
}

/** Nothing can reach such a client that it did not ask for at that moment. */
function withoutChangeNotifications(capabilities: ServerCapabilities): ServerCapabilities {
  const kept: Record<string, JsonValue | undefined> = { ...capabilities };
  for (const name of ['tools', 'resources', 'prompts']) {
    const { listChanged: _listChanged, subscribe: _subscribe, ...rest } = (kept[name] ?? {}) as JsonObject;
    if (kept[name] !== undefined) kept[name] = rest;
  }
  return kept;
}
