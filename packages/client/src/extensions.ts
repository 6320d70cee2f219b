/** Collects what a client's extensions add: methods, headers, capabilities and result types. */

import type { JsonObject } from '@mortise/jsonrpc-core';
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
    if (this.#all.length === 0) return declared;
    let capabilities = declared;
    for (const extension of this.#all) capabilities = { ...capabilities, ...extension.capabilities?.(revision, declared) };
    if (!revision.rules.extensions) return capabilities;
    const settings = Object.fromEntries(this.#all.map(({ id, settings: own = {} }) => [id, own]));
    return { ...capabilities, extensions: { ...capabilities.extensions, ...settings } };
  }

  /** Returns the extension's function that reads results of this type, if the server declares the extension too. */
  readerOf(resultType: string, server: ServerCapabilities): ReadResult | undefined {
    const negotiated = this.#all.filter(({ id }) => hasExtension(server, id));
    return negotiated.find(({ results }) => results !== undefined && Object.hasOwn(results, resultType))?.results?.[resultType];
  }
}
