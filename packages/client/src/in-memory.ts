/** `@mortise/client/in-memory`: a client and a server in one process. For tests, and for servers that are parts of a program. */

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
   * `exchange` calls the server for each request, which is fastest; `channel` joins the two by a pair of transports, as on stdio; `json` does so
   * and writes and reads each message as JSON. The legacy era always has a channel.
   *
   * @default 'exchange'
   */
  readonly via?: 'exchange' | 'channel' | 'json' | undefined;
  /** On whose behalf the client calls. @default the one of `auth`, else 'local' */
  readonly principal?: Principal | undefined;
  /** What the server knows of the caller's token: it checks scopes against it. @default none */
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
  const { info = { name: 'in-memory', version: '0.0.0' }, via, principal, auth, ...rest } = options;
  const transport = inMemoryTransport(endpoint, { via, principal, auth });
  if (rest.logger !== undefined) endpoint.offerLogger?.(rest.logger);
  return McpClient.connect(transport, info, rest);
}

/** Makes the factory of transports that `connectInMemory` uses. @throws {TypeError} The endpoint is not a server. */
export function inMemoryTransport(
  endpoint: McpEndpoint & Connectable,
  { via, auth, principal = auth?.principal ?? 'local' }: InMemoryConnectOptions = {},
): () => Transport | ExchangeTransport {
  if (![endpoint?.handle, endpoint?.connect].every((member) => typeof member === 'function')) {
    const message = 'connectInMemory(server) takes a server, such as an McpServer: this has no functions "handle" and "connect"';
    throw new TypeError(message);
  }
  const caller = { principal, auth };
  const isChannel = via === 'channel' || via === 'json';
  return () => (isChannel ? openChannel(endpoint, caller, via === 'json') : new EndpointExchange(endpoint, caller));
}

/** On whose behalf a client calls. */
type Caller = Pick<Call, 'principal' | 'auth'>;

/** The client's end of a pair whose other end the server serves as soon as the client starts. */
function openChannel(endpoint: Connectable, caller: Caller, isJson: boolean): Transport {
  const [near, far] = createInMemoryPair({ passBy: isJson ? 'json' : 'reference', info: caller });
  const start = near.start.bind(near);
  near.start = async () => {
    await endpoint.connect(far);
    await start();
  };
  return near;
}

/** Hands each request to the endpoint. */
class EndpointExchange implements ExchangeTransport, LegacyOpener {
  readonly #endpoint: McpEndpoint & Connectable;
  readonly #caller: Caller;

  constructor(endpoint: McpEndpoint & Connectable, caller: Caller) {
    this.#endpoint = endpoint;
    this.#caller = caller;
  }

  exchange(request: JsonRpcRequest, options: ExchangeOptions = {}): Promise<JsonRpcResponse> {
    return new Promise((resolve, reject) => {
      const call = new EndpointCall(this.#caller, options, reject);
      if (call.isCancelled) return;
      const settle = (response: JsonRpcResponse): void => {
        call.end();
        if (response.id === request.id) resolve(response);
        else reject(new InvalidResponseError(`The answer to "${request.method}" has another request's id`));
      };
      const fail = (error: unknown): void => {
        call.end();
        reject(error);
      };
      // A server that answers at once costs no further promise.
      const answer = this.#endpoint.handle(request, call);
      if (answer instanceof Promise) answer.then(settle).catch(fail);
      else settle(answer);
    });
  }

  openLegacy(): Promise<Transport> {
    return Promise.resolve(openChannel(this.#endpoint, this.#caller, false));
  }
}

/** A call as the endpoint sees it. */
class EndpointCall extends Cancellation implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly #exchange: ExchangeOptions;
  readonly #onCancelled: (reason: unknown) => void;
  #isOver = false;

  constructor({ principal, auth }: Caller, exchange: ExchangeOptions, onCancelled: (reason: unknown) => void) {
    super();
    this.principal = principal;
    this.auth = auth;
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
    if (isWanted) this.#exchange.onMessage?.(message);
    return resolvedPromise;
  }

  /** Nothing belongs to the call any more. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}
