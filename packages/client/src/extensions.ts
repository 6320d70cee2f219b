/** Collects what a client's extensions add: methods, headers, capabilities and result types. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, Revision, ServerCapabilities } from '@mortise/protocol';
import { checkExtensionId, hasExtension } from '@mortise/protocol/checks';
import type { ClientExtension, ClientExtensionHost } from '@mortise/protocol/contracts';

type ReadResult = NonNullable<ClientExtension['results']>[string];

/** The extensions of one client. */
export class Extensions {
  readonly #all: readonly ClientExtension[];
  /** The parameter whose value goes into the HTTP header `Mcp-Name`, by method. */
  readonly #nameParams = new Map<string, string>();
  #isInstalled = false;

  constructor(extensions: readonly ClientExtension[]) {
    this.#all = extensions;
    for (const { id, nameParams = {} } of extensions) {
      const reason = checkExtensionId(id);
      if (reason !== undefined) throw new TypeError(reason);
      for (const [method, param] of Object.entries(nameParams)) this.#nameParams.set(method, param);
    }
  }

  /** Calls the `install` function of each extension, only once. */
  install(host: ClientExtensionHost): void {
    if (!this.#isInstalled) for (const extension of this.#all) extension.install?.(host);
    this.#isInstalled = true;
  }

  /** Returns the `Mcp-Name` header of an extension's request, not yet encoded; undefined if the method has none. */
  headersOf(method: string, params: JsonObject): { readonly 'mcp-name': string } | undefined {
    const param = this.#nameParams.size === 0 ? undefined : this.#nameParams.get(method);
    const name = param === undefined ? undefined : params[param];
    return typeof name === 'string' ? { 'mcp-name': name } : undefined;
  }

  /** Returns the client's declared capabilities with those that extensions add in this revision. */
  declare(revision: Revision, declared: ClientCapabilities): ClientCapabilities {
    let capabilities = declared;
    for (const extension of this.#all) {
      capabilities = merge(capabilities, extension.capabilities?.(revision, declared));
      const settings = typeof extension.settings === 'function' ? extension.settings(revision) : (extension.settings ?? {});
      if (settings && revision.rules.extensions) capabilities = merge(capabilities, { extensions: { [extension.id]: settings } });
    }
    return capabilities;
  }

  /** Returns the extension's function that reads results of this type, if the server declares the extension too. */
  readerOf(resultType: string, server: ServerCapabilities): ReadResult | undefined {
    const negotiated = this.#all.filter(({ id }) => hasExtension(server, id));
    return negotiated.find(({ results }) => results !== undefined && Object.hasOwn(results, resultType))?.results?.[resultType];
  }
}

/** Adds capabilities to others. Both may name the same one, such as `experimental`: the result has the members of both. */
function merge(capabilities: ClientCapabilities, added: ClientCapabilities = {}): ClientCapabilities {
  const merged = { ...capabilities, ...added };
  for (const [name, value] of Object.entries(added)) {
    const before = capabilities[name];
    if (isJsonObject(before) && isJsonObject(value)) merged[name] = { ...before, ...value };
  }
  return merged;
}
