/** `@mortise/client/in-memory`: connects a client and a server in one process. For tests and embedded servers. */

import {
  type Connectable,
  createInMemoryPair,
  InvalidResponseError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Logger,
  type LogLevel,
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

/** The options of `connectInMemory`. */
export interface InMemoryConnectOptions extends ClientOptions, ConnectOptions {
  /** The client's name and version. @default { name: 'in-memory', version: '0.0.0' } */
  readonly info?: Implementation | undefined;
  /**
   * How messages travel. `exchange`, the fastest, calls the server for each request. `channel` uses a pair of transports, as on stdio. `json`
   * also converts each message to JSON and back. In the legacy era `exchange` uses a channel too.
   *
   * @default 'exchange'
   */
  readonly via?: 'exchange' | 'channel' | 'json' | undefined;
  /** The authenticated identity for which the client calls the server. @default the principal of `auth`, else 'local' */
  readonly principal?: Principal | undefined;
  /** The caller's token data, against which the server checks scopes. @default none */
  readonly auth?: AuthInfo | undefined;
}

/**
 * Connects a client to a server in the same process, in either era.
 *
 * ```ts
 * const client = await connectInMemory(server, { era: 'legacy' });
 * ```
 *
 * If the server has no logger, the errors of its handlers go to the option `logger`, or to `console.error` without that option.
 *
 * @throws {TypeError} The endpoint is not a server.
 * @throws As `McpClient.connect` does.
 */
export async function connectInMemory(endpoint: McpEndpoint & Connectable, options: InMemoryConnectOptions = {}): Promise<McpClient> {
  const { info = { name: 'in-memory', version: '0.0.0' }, via, principal, auth, ...rest } = options;
  const transport = inMemoryTransport(endpoint, { via, principal, auth });
  endpoint.offerLogger?.(rest.logger ?? consoleLogger);
  return McpClient.connect(transport, info, rest);
}

const QUIET: readonly LogLevel[] = ['debug', 'info', 'notice'];

/** Writes a server's warnings and errors to the console, so that a handler that throws in a test shows its error. */
const consoleLogger: Logger = {
  log(level, message, fields = {}) {
    if (QUIET.includes(level)) return;
    if (Object.keys(fields).length > 0) console.error(message, fields);
    else console.error(message);
  },
};

/** Makes the transport factory that `connectInMemory` uses. @throws {TypeError} The endpoint is not a server. */
export function inMemoryTransport(
  endpoint: McpEndpoint & Connectable,
  { via, auth, principal = auth?.principal ?? 'local' }: InMemoryConnectOptions = {},
): () => Transport | ExchangeTransport {
  if (![endpoint?.handle, endpoint?.connect].every((member) => typeof member === 'function')) {
    const message = 'connectInMemory(server) needs a server with the functions "handle" and "connect", such as an McpServer';
    throw new TypeError(message);
  }
  const caller = { principal, auth };
  const isChannel = via === 'channel' || via === 'json';
  return () => (isChannel ? openChannel(endpoint, caller, via === 'json') : new EndpointExchange(endpoint, caller));
}

/** The identity for which a client calls the server, and its token data. */
type Caller = Pick<Call, 'principal' | 'auth'>;

/** Makes a pair of in-memory transports and returns the client's end. Starting that end connects the server to the other one. */
function openChannel(endpoint: Connectable, caller: Caller, isJson: boolean): Transport {
  const [near, far] = createInMemoryPair({ passBy: isJson ? 'json' : 'reference', info: caller });
  const start = near.start.bind(near);
  near.start = async () => {
    await endpoint.connect(far);
    await start();
  };
  return near;
}

/** A transport that calls the in-memory server directly, once for each request. */
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
        else reject(new InvalidResponseError(`The server's response to "${request.method}" has the id of another request`));
      };
      const fail = (error: unknown): void => {
        call.end();
        reject(error);
      };
      // A synchronous response needs no further promise.
      const answer = this.#endpoint.handle(request, call);
      if (answer instanceof Promise) answer.then(settle).catch(fail);
      else settle(answer);
    });
  }

  openLegacy(): Promise<Transport> {
    return Promise.resolve(openChannel(this.#endpoint, this.#caller, false));
  }
}

/** The `Call` object that the in-memory server gets with each request. */
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
    // Prefers `onAbort`, because reading `signal` may create the signal.
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

  /** Ends the call: notifications that the server sends for it from now on are dropped. */
  end(): void {
    this.#isOver = true;
    this.release();
  }
}
