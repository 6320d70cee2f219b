/** The source of a client's transports: a single transport, or a factory of them. */

import { type Transport, UsageError } from '@mortise/jsonrpc-core';
import { type ExchangeTransport, isExchangeTransport, type TransportFactory, type TransportLike } from '@mortise/jsonrpc-core/transport';

/** A transport that can make another, unstarted transport to the same peer. Detected by its member `renew`. */
interface Renewable {
  renew(): Transport;
}

/** A transport, or a factory of them, that identifies its server for an `EraMemory`. */
export interface EraKeyed {
  /**
   * The server's URL, or its program with a digest of how the program is started. Must hold no secret, because it may be written to disk.
   */
  readonly eraKey: string;
}

/** A transport that shows under which authorization it sends. Detected by its member `authContext`. */
export interface AuthContextual {
  /** A text that changes with the access token but never contains it. A result cache shares private results only for the same text. */
  readonly authContext: string | undefined;
}

/** A transport that a client can use. */
export type ClientTransport = Transport | ExchangeTransport | (Transport & ExchangeTransport);

/** A transport, a factory of transports, or both in one, as `stdioTransport()` and `httpTransport()` return. Also a transport of another SDK. */
export type ClientTransportSource = ClientTransport | TransportFactory | (() => ClientTransport) | TransportLike | (() => TransportLike);

/** The transports that clients have used. A client that gets one of them again uses `renew` to make a new one, if it can. */
const used = new WeakSet<ClientTransport>();

const NO_TRANSPORT =
  'connect() needs a transport or a factory of transports: stdioTransport({ command }) of @mortise/transport-stdio/client for a program, httpTransport(url) of @mortise/transport-http/client for an address';

export class TransportSource {
  /** The text that identifies the server, from the transport's `eraKey`; undefined if it has none. */
  readonly serverKey: string | undefined;
  readonly #factory: (() => ClientTransport) | undefined;
  #first: ClientTransport | undefined;
  #current: ClientTransport | undefined;

  /** @throws {TypeError} The source is neither a transport nor a factory of transports. */
  constructor(source: ClientTransportSource) {
    if (!isObject(source)) throw new TypeError(NO_TRANSPORT);
    if (typeof source === 'function') this.#factory = source as () => ClientTransport;
    else if (isRenewable(source)) this.#factory = () => source.renew();
    if (isTransport(source)) {
      this.#first = this.#factory && used.has(source) ? undefined : source;
      used.add(source);
    } else if (!this.#factory) throw new TypeError(NO_TRANSPORT);
    const { eraKey } = source as Partial<EraKeyed>;
    if (typeof eraKey === 'string') this.serverKey = eraKey;
  }

  /** Whether `next` can return another transport to the server. */
  get canRepeat(): boolean {
    return this.#factory !== undefined;
  }

  /** Whether the server is known to run on this machine, as a child process or at a loopback address. */
  get isLocal(): boolean {
    const key = this.serverKey;
    if (key === undefined || !/^(?:https?|wss?):\/\//iu.test(key)) return key !== undefined;
    return /^[a-z]+:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/iu.test(key);
  }

  /** A text that changes with the transport's authorization; undefined if the transport reports none. See `AuthContextual`. */
  get authContext(): string | undefined {
    const context = (this.#current as Partial<AuthContextual> | undefined)?.authContext;
    return typeof context === 'string' ? context : undefined;
  }

  /**
   * Returns a new transport.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: the source was a single transport, which is already used.
   * @throws {TypeError} The factory returned something that is not a transport.
   */
  next(): ClientTransport {
    const next: unknown = this.#first ?? this.#factory?.();
    this.#first = undefined;
    if (next === undefined && !this.#factory) {
      throw new UsageError(
        'ERR_NOT_CONNECTED',
        'the connection ended and cannot be opened again: pass connect() a factory, `() => transport`',
      );
    }
    if (!isObject(next) || !isTransport(next)) {
      throw new TypeError('The factory did not return a transport: it must return one directly, not a promise');
    }
    return (this.#current = next);
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Whether a value is a transport. Checks every member, so that a missing one is an error now and not at its first use. */
function isTransport(source: object): source is ClientTransport {
  const { start, send, close } = source as Partial<Transport>;
  return isExchangeTransport(source) || [start, send, close].every((member) => typeof member === 'function');
}

function isRenewable(source: object): source is Renewable {
  return typeof (source as Partial<Renewable>).renew === 'function';
}
