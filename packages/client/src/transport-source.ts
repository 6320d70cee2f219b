/** Where a client's transports come from: one that is at hand, or a factory of them. */

import { NotConnectedError, type Transport } from '@mortise/jsonrpc-core';
import { type ExchangeTransport, isExchangeTransport, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { eraKeyOf } from './era/era-memory.ts';

/** A transport that can make another, unstarted one to the same peer; found by its member. */
export interface Renewable {
  renew(): Transport;
}

/** Whatever a client can speak through. */
export type ClientTransport = Transport | ExchangeTransport | (Transport & ExchangeTransport);

/** A transport, a factory of them, or something that is both, as `stdioTransport()` and `httpTransport()` give. */
export type ClientTransportSource = ClientTransport | TransportFactory | (() => ClientTransport);

export class TransportSource {
  /** What names the server, where the transport says it. */
  readonly eraKey: string | undefined;
  readonly #factory: (() => ClientTransport) | undefined;
  #first: ClientTransport | undefined;

  constructor(source: ClientTransportSource) {
    this.#factory = typeof source === 'function' ? source : isRenewable(source) ? () => source.renew() : undefined;
    this.#first = isTransport(source) ? source : undefined;
    if (!this.#factory && !this.#first) throw new TypeError('connect() takes a transport or a factory of transports');
    this.eraKey = eraKeyOf(source);
  }

  /** Whether there will be another one. */
  get canRepeat(): boolean {
    return this.#factory !== undefined;
  }

  /** Gives a fresh transport. */
  next(): ClientTransport {
    const first = this.#first;
    this.#first = undefined;
    if (first) return first;
    if (this.#factory) return this.#factory();
    throw new NotConnectedError('the connection is gone and cannot be opened again: give connect() a factory, `() => transport`');
  }
}

function isTransport(source: object): source is ClientTransport {
  return isExchangeTransport(source) || typeof (source as Partial<Transport>).send === 'function';
}

function isRenewable(source: object): source is Renewable {
  return typeof (source as Partial<Renewable>).renew === 'function';
}
