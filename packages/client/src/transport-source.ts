/** Where a client's transports come from: one that is at hand, or a factory of them. */

import { type Transport, UsageError } from '@mortise/jsonrpc-core';
import { type ExchangeTransport, isExchangeTransport, type TransportFactory, type TransportLike } from '@mortise/jsonrpc-core/transport';

/** A transport that can make another, unstarted one to the same peer; found by its member. */
interface Renewable {
  renew(): Transport;
}

/** A transport, or a factory of them, that can name its server. */
export interface EraKeyed {
  /**
   * The full URL, or the program with a digest of how it is run. Holds no secret, for it may be written to disk.
   */
  readonly eraKey: string;
}

/** A transport that knows on whose behalf it speaks; found by its member. */
export interface AuthContextual {
  /** Differs where the access token differs. Never the token itself. Private results are kept for it. */
  readonly authContext: string | undefined;
}

/** Whatever a client can speak through. */
export type ClientTransport = Transport | ExchangeTransport | (Transport & ExchangeTransport);

/** A transport, a factory of them, or something that is both, as `stdioTransport()` and `httpTransport()` give; also those of other SDKs. */
export type ClientTransportSource = ClientTransport | TransportFactory | (() => ClientTransport) | TransportLike | (() => TransportLike);

/** The transports that clients have used: a client that gets one of them again takes a fresh one, where it can be made. */
const used = new WeakSet<ClientTransport>();

const NO_TRANSPORT =
  'connect() takes a transport or a factory of transports: stdioTransport({ command }) of @mortise/transport-stdio/client for a program, httpTransport(url) of @mortise/transport-http/client for an address';

export class TransportSource {
  /** Names the server, where the transport does. */
  readonly serverKey: string | undefined;
  readonly #factory: (() => ClientTransport) | undefined;
  #first: ClientTransport | undefined;
  #current: ClientTransport | undefined;

  /** @throws {TypeError} It is neither a transport nor a factory of them. */
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

  /** Whether there will be another one. */
  get canRepeat(): boolean {
    return this.#factory !== undefined;
  }

  /** Whether the server is known to run on this machine: as a process of it, or at a loopback address. */
  get isLocal(): boolean {
    const key = this.serverKey;
    if (key === undefined || !/^(?:https?|wss?):\/\//iu.test(key)) return key !== undefined;
    return /^[a-z]+:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/iu.test(key);
  }

  /** See `AuthContextual`. */
  get authContext(): string | undefined {
    const context = (this.#current as Partial<AuthContextual> | undefined)?.authContext;
    return typeof context === 'string' ? context : undefined;
  }

  /**
   * Gives a fresh transport.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: there was only one, and it is used up.
   * @throws {TypeError} The factory gave something else.
   */
  next(): ClientTransport {
    const next: unknown = this.#first ?? this.#factory?.();
    this.#first = undefined;
    if (next === undefined && !this.#factory) {
      throw new UsageError(
        'ERR_NOT_CONNECTED',
        'the connection is gone and cannot be opened again: give connect() a factory, `() => transport`',
      );
    }
    if (!isObject(next) || !isTransport(next)) {
      throw new TypeError('The factory gave no transport: it must give one at once, not a promise of it');
    }
    return (this.#current = next);
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** All members are looked at: a channel that lacks one would show it only when that is needed. */
function isTransport(source: object): source is ClientTransport {
  const { start, send, close } = source as Partial<Transport>;
  return isExchangeTransport(source) || [start, send, close].every((member) => typeof member === 'function');
}

function isRenewable(source: object): source is Renewable {
  return typeof (source as Partial<Renewable>).renew === 'function';
}
