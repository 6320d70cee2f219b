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
import {
  Cancellation,
  type ExchangeOptions,
  type ExchangeTransport,
  type LegacyOpener,
  resolvedPromise,
} from '@mortise/jsonrpc-core/transport';
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
  /** What the server knows of the caller's token, in every era and both ways: it checks scopes against it. @default none */
  readonly auth?: AuthInfo | undefined;
}

/**
 * Connects a client to a server in the same process, in either era.
 *
 * ```ts
 * const client = await connectInMemory(server, { era: 'legacy' });
 * ```
 *
 * Its `logger` also gets what handlers throw, as long as the server has none of its own.
 *
 * @throws {TypeError} The endpoint is not a server.
 * @throws As `McpClient.connect` does.
 */
export async function connectInMemory(endpoint: McpEndpoint & Connectable, options: InMemoryConnectOptions = {}): Promise<McpClient> {
  const { info = { name: 'in-memory', version: '0.0.0' }, via, passBy, principal, auth, ...rest } = options;
  const transport = inMemoryTransport(endpoint, { via, passBy, principal, auth });
  if (rest.logger !== undefined) endpoint.offerLogger?.(rest.logger);
  return McpClient.connect(transport, info, rest);
}

/** Makes the factory of transports that `connectInMemory` uses. @throws {TypeError} The endpoint is not a server. */
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
    return new Promise((resolve, reject) => {
      const call = new EndpointCall(this.#options, this.#principal, options, reject);
      if (call.isCancelled) return;
      const settle = (response: JsonRpcResponse): void => {
        call.end();
        if (response.id === request.id) resolve(this.#isCopying ? copy(response) : response);
        else reject(new InvalidResponseError(`The answer to "${request.method}" has another request's id`));
      };
      const fail = (error: unknown): void => {
        call.end();
        reject(error);
      };
      // A server that answers at once costs no further promise.
      const answer = this.#endpoint.handle(this.#isCopying ? copy(request) : request, call);
      if (answer instanceof Promise) answer.then(settle).catch(fail);
      else settle(answer);
    });
  }

  openLegacy(): Promise<Transport> {
    return Promise.resolve(openChannel(this.#endpoint, this.#options));
  }
}

/** A call as the endpoint sees it. */
class EndpointCall extends Cancellation implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly #passBy: InMemoryConnectOptions['passBy'];
  readonly #exchange: ExchangeOptions;
  readonly #onCancelled: (reason: unknown) => void;
  #isOver = false;

  constructor(
    { auth, passBy }: InMemoryConnectOptions,
    principal: Principal,
    exchange: ExchangeOptions,
    onCancelled: (reason: unknown) => void,
  ) {
    super();
    this.principal = principal;
    this.auth = auth;
    this.#passBy = passBy;
    this.#exchange = exchange;
    this.#onCancelled = onCancelled;
    // Asking for a signal may be what makes it.
    if (exchange.onAbort) exchange.onAbort((reason) => this.cancel(reason));
    else if (exchange.signal) this.follow(exchange.signal);
  }

  override cancel(reason: unknown): void {
    super.cancel(reason);
    this.#onCancelled(reason);
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    const isWanted = !this.#isOver && !this.isCancelled && !('id' in message);
    if (isWanted) this.#exchange.onMessage?.(this.#passBy === 'json' ? copy(message) : message);
    return resolvedPromise;
  }

  /** Nothing belongs to the call any more. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}

function copy<T>(message: T): T {
  return JSON.parse(JSON.stringify(message)) as T;
}
