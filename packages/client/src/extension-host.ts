/** What a `ClientExtension` is given, on top of the low-level client. */

import type { JsonObject, JsonRpcNotification, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Revision, ServerCapabilities } from '@mortise/protocol';
import { checkExtensionId, hasExtension } from '@mortise/protocol/checks';
import type { Ask, ClientExtension, ClientExtensionHost } from '@mortise/protocol/contracts';
import type { AnswerInterceptor } from './answers.ts';
import type { CallOptions } from './call-options.ts';
import type { MiddlewareEntry } from './run-middleware.ts';
import type { Session } from './session.ts';

/** What the extensions of a client need of it. */
export interface ExtensionClient {
  readonly session: Session;
  sendUnchecked(method: string, params: JsonObject, options?: CallOptions): Promise<JsonObject>;
  requestRaw(method: string, params: JsonObject, options?: CallOptions): Promise<JsonRpcResponse>;
  notify(method: string, params?: JsonObject): Promise<void>;
  answer(ask: Ask): Promise<JsonObject>;
  addRequestHandler(method: string, fn: (params: JsonObject) => JsonObject | Promise<JsonObject>): void;
  interceptAnswer(method: string, fn: AnswerInterceptor): void;
  addNotificationHandler(method: string, fn: (params: JsonObject) => void): () => void;
  addInnerMiddleware(entry: MiddlewareEntry): void;
  listenRaw(filter: JsonObject, options?: { readonly signal?: AbortSignal }): AsyncIterable<JsonRpcNotification>;
}

type ReadResult = NonNullable<ClientExtension['results']>[string];

/** The extensions of one client. */
export class Extensions {
  readonly #all: readonly ClientExtension[];
  /** By method: the parameter that HTTP mirrors in `Mcp-Name`. */
  readonly #nameParams = new Map<string, string>();

  constructor(extensions: readonly ClientExtension[]) {
    this.#all = extensions;
    for (const { id, nameParams = {} } of extensions) {
      const reason = checkExtensionId(id);
      if (reason !== undefined) throw new TypeError(reason);
      for (const [method, param] of Object.entries(nameParams)) this.#nameParams.set(method, param);
    }
  }

  /** The header that names what a request of an extension is about, as text that the transport encodes; undefined for most. */
  headersOf(method: string, params: JsonObject): { readonly 'mcp-name': string } | undefined {
    const param = this.#nameParams.size === 0 ? undefined : this.#nameParams.get(method);
    const name = param === undefined ? undefined : params[param];
    return typeof name === 'string' ? { 'mcp-name': name } : undefined;
  }

  /** Lets each extension add what it brings. Called once. */
  install(client: ExtensionClient): void {
    for (const extension of this.#all) extension.install?.(toHost(client));
  }

  /** What the extensions declare in a revision, put over what is declared already. */
  declare(revision: Revision, declared: ClientCapabilities): ClientCapabilities {
    if (this.#all.length === 0) return declared;
    let capabilities = declared;
    for (const extension of this.#all) capabilities = { ...capabilities, ...extension.capabilities?.(revision, declared) };
    if (!revision.rules.extensions) return capabilities;
    const settings = Object.fromEntries(this.#all.map(({ id, settings: own = {} }) => [id, own]));
    return { ...capabilities, extensions: { ...capabilities.extensions, ...settings } };
  }

  /** Who understands a kind of result. Only an extension that the server has too may bring one. */
  readerOf(resultType: string, server: ServerCapabilities): ReadResult | undefined {
    const negotiated = this.#all.filter(({ id }) => hasExtension(server, id));
    return negotiated.find(({ results }) => results !== undefined && Object.hasOwn(results, resultType))?.results?.[resultType];
  }
}

function toHost(client: ExtensionClient): ClientExtensionHost {
  return {
    request: (method, params, options) => client.sendUnchecked(method, params, options),
    requestRaw: (method, params, options) => client.requestRaw(method, params, options),
    notify: (method, params) => client.notify(method, params),
    answer: (ask) => client.answer(ask),
    intercept: (method, fn) => client.addInnerMiddleware({ method, run: (call, next) => fn(call.params, next, call) }),
    addMethod: (method, fn) => client.addRequestHandler(method, fn),
    interceptAnswer: (method, fn) => client.interceptAnswer(method, fn),
    onNotification: (method, fn) => client.addNotificationHandler(method, fn),
    listen: (filter, options) => client.listenRaw(filter, options),
    get revision() {
      return client.session.revision;
    },
    get serverCapabilities() {
      return client.session.server.capabilities;
    },
  };
}
