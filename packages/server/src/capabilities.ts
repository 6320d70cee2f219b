/** The capabilities that the server advertises: those declared, those of registered items, and those of extensions. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision, ServerCapabilities } from '@mortise/protocol';
import { serverCapabilitiesFor } from '@mortise/protocol/revisions';
import { hasCapability } from '@mortise/protocol/checks';
import type { Principal, ServerExtension } from '@mortise/protocol/contracts';

/** The client and its connection. They decide which capabilities the server advertises to that client. */
export interface CapabilityAudience {
  readonly principal: Principal;
  /** Whether the server can send the client notifications and requests that belong to none of the client's requests. */
  readonly canReach: boolean;
}

export class CapabilityBook {
  readonly #extensions: readonly ServerExtension[];
  #declared: ServerCapabilities;
  #registered: ServerCapabilities = {};
  /** The capabilities that the program declared or that registered items imply, by revision. */
  #own = new Map<Revision, ServerCapabilities>();

  constructor(declared: ServerCapabilities = {}, extensions: readonly ServerExtension[] = []) {
    this.#declared = declared;
    this.#extensions = extensions;
  }

  /** Declares further capabilities, in addition to those already declared. */
  declare(capabilities: ServerCapabilities): void {
    this.#declared = merge(this.#declared, capabilities);
    this.#own = new Map();
  }

  /** Adds the capability that a registered item implies, such as `tools`. A declared one takes precedence. @returns Whether it is new. */
  register(name: string, capability: JsonObject): boolean {
    if (Object.hasOwn(this.#registered, name)) return false;
    this.#registered = { ...this.#registered, [name]: capability };
    this.#own = new Map();
    return true;
  }

  /** Tells whether a capability, such as `logging` or `tools.listChanged`, is advertised in a revision. Ignores those of extensions. */
  has(revision: Revision, dotted: string): boolean {
    let own = this.#own.get(revision);
    if (!own) this.#own.set(revision, (own = serverCapabilitiesFor(revision, merge(this.#registered, this.#declared))));
    return hasCapability(own, dotted);
  }

  /** Returns the capabilities that the server advertises to one client. */
  advertise(revision: Revision, audience: CapabilityAudience): ServerCapabilities {
    let capabilities = merge(this.#registered, this.#declared);
    for (const extension of this.#extensions) {
      const own = extension.capabilities?.(revision, audience);
      if (own) capabilities = merge(capabilities, own as ServerCapabilities);
      const settings = typeof extension.settings === 'function' ? extension.settings(revision) : extension.settings;
      if (settings) capabilities = merge(capabilities, { extensions: { [extension.id]: settings } });
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

/** Removes `listChanged` and `subscribe` for a client that unsolicited notifications cannot reach. */
function withoutChangeNotifications(capabilities: ServerCapabilities): ServerCapabilities {
  const kept: Record<string, JsonValue | undefined> = { ...capabilities };
  for (const name of ['tools', 'resources', 'prompts']) {
    const { listChanged: _listChanged, subscribe: _subscribe, ...rest } = (kept[name] ?? {}) as JsonObject;
    if (kept[name] !== undefined) kept[name] = rest;
  }
  return kept;
}
