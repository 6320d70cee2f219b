/** `@mortise/client/in-memory`: a client and a server in one process, without a wire. For tests, and for servers that are parts of a program. */

import {
  type Connectable,
  createInMemoryPair,
  InvalidResponseError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Transport,
} from '@mortise/jsonrpc-core';
import { type ExchangeOptions, type ExchangeTransport, type LegacyOpener, resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { Implementation } from '@mortise/protocol';
import type { AuthInfo, Call, McpEndpoint, Principal } from '@mortise/protocol/contracts';
import type { ClientOptions, ConnectOptions } from './client-options.ts';
import { McpClient } from './mcp-client.ts';

/** How a client is joined to a server in the same process. */
export interface InMemoryConnectOptions extends ClientOptions, ConnectOptions {
  /** Who the client says it is. @default { name: 'in-memory', version: '0.0.0' } */
  readonly info?: Implementation | undefined;
  /**
   * `exchange` calls the server for each request, which is fastest; `channel` joins the two by a pair of transports, as on stdio.
   * The legacy era always has a channel.
   *
   * @default 'exchange'
   */
  readonly via?: 'exchange' | 'channel' | undefined;
  /**
   * Whether messages are handed over as they are, or written and read as JSON.
   *
   * @default 'reference'
   */
  readonly passBy?: 'reference' | 'json' | undefined;
  /** On whose behalf the client calls, in every era and both ways. @default the one of `auth`, else 'local' */
  readonly principal?: Principal | undefined;
  /** What the server is told of the caller's token, in every era and both ways: scopes are checked against it. @default none */
  readonly auth?: AuthInfo | undefined;
}

/**
 * Connects a client to a server in the same process, in either era.
 *
 * ```ts
 * const client = await connectInMemory(server, { era: 'legacy' });
 * ```
 *
 * Its `logger` is told what handlers throw, too, as long as the server has none of its own.
 *
 * @throws {TypeError} What is given is no server.
 * @throws As `McpClient.connect` does.
 */
export async function connectInMemory(endpoint: McpEndpoint & Connectable, options: InMemoryConnectOptions = {}): Promise<McpClient> {
  const { info = { name: 'in-memory', version: '0.0.0' }, via, passBy, principal, auth, ...rest } = options;
  const transport = inMemoryTransport(endpoint, { via, passBy, principal, auth });
  if (rest.logger !== undefined) endpoint.offerLogger?.(rest.logger);
  return McpClient.connect(transport, info, rest);
}

/** Makes the factory of transports that `connectInMemory` uses. @throws {TypeError} What is given is no server. */
export function inMemoryTransport(
  endpoint: McpEndpoint & Connectable,
  options: InMemoryConnectOptions = {},
): () => Transport | ExchangeTransport {
  if (![endpoint?.handle, endpoint?.connect].every((member) => typeof member === 'function'))
    throw new TypeError(
      'connectInMemory(server) takes what a client speaks to, such as an McpServer: this has no functions "handle" and "connect"',
    );
  if (options.via === 'channel') return () => openChannel(endpoint, options);
  return () => new EndpointExchange(endpoint, options);
}

/** The client's end of a pair whose other end the server serves as soon as the client starts. */
function openChannel(endpoint: Connectable, options: InMemoryConnectOptions): Transport {
  const { passBy = 'reference', auth } = options;
  const [near, far] = createInMemoryPair({ passBy, info: { principal: principalOf(options), auth } });
  const start = near.start.bind(near);
  near.start = async () => {
    await endpoint.connect(far);
    await start();
  };
  return near;
}

function principalOf({ principal, auth }: InMemoryConnectOptions): Principal {
  return principal ?? auth?.principal ?? 'local';
}

/** Hands each request to the endpoint. */
class EndpointExchange implements ExchangeTransport, LegacyOpener {
  readonly #endpoint: McpEndpoint & Connectable;
  readonly #options: InMemoryConnectOptions;
  readonly #principal: Principal;
  readonly #isCopying: boolean;

  constructor(endpoint: McpEndpoint & Connectable, options: InMemoryConnectOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#principal = principalOf(options);
    this.#isCopying = options.passBy === 'json';
  }

  exchange(request: JsonRpcRequest, options: ExchangeOptions = {}): Promise<JsonRpcResponse> {
    // Mortise's own client settles its caller by itself and would be made to make a signal by being asked for one.
    if ('isCancelled' in options) return this.#handle(request, options);
    return this.#settleWith(request, options);
  }

  async #settleWith(request: JsonRpcRequest, { signal, headers, onMessage }: ExchangeOptions): Promise<JsonRpcResponse> {
    signal?.throwIfAborted();
    let isOver = false;
    const tell = (message: JsonRpcNotification): void => {
      if (!isOver) onMessage?.(message);
    };
    try {
      const response = await abortable(this.#handle(request, { signal, headers, onMessage: tell }), signal);
      if (response.id !== request.id) throw new InvalidResponseError(`The answer to "${request.method}" has another request's id`);
      return response;
    } finally {
      isOver = true;
    }
  }

  async #handle(request: JsonRpcRequest, options: ExchangeOptions): Promise<JsonRpcResponse> {
    const call = new EndpointCall(options, this.#principal, this.#options.auth, this.#isCopying);
    if (!this.#isCopying) return this.#endpoint.handle(request, call);
    return copy(await this.#endpoint.handle(copy(request), call));
  }

  openLegacy(): Promise<Transport> {
    return Promise.resolve(openChannel(this.#endpoint, this.#options));
  }
}

/** A call as the endpoint sees it. Reads the client's side only when asked, so that an unused signal is never made. */
class EndpointCall implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly #options: ExchangeOptions & { readonly isCancelled?: boolean };
  readonly #isCopying: boolean;
  #signal: AbortSignal | undefined;

  constructor(options: ExchangeOptions, principal: Principal, auth: AuthInfo | undefined, isCopying: boolean) {
    this.#options = options;
    this.principal = principal;
    this.auth = auth;
    this.#isCopying = isCopying;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#options.signal ?? new AbortController().signal);
  }

  get isCancelled(): boolean {
    return this.#options.isCancelled ?? this.signal.aborted;
  }

  /** Only the legacy era cancels by a message, and its calls have a channel. */
  cancel(): void {}

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.isCancelled && !('id' in message)) this.#options.onMessage?.(this.#isCopying ? copy(message) : message);
    return resolvedPromise;
  }
}

function copy<T>(message: T): T {
  return JSON.parse(JSON.stringify(message)) as T;
}
