/** A server over HTTP as a program names it once: a transport to it, and a maker of fresh ones. */

import type { Transport } from '@mortise/jsonrpc-core';
import { createCallableTransport, type ExchangeTransport, type LegacyOpener, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import type { HttpTransportOptions } from './http-transport-options.ts';
import { StreamableHTTPClientTransport } from './streamable-http-client-transport.ts';

/** A transport to a server over HTTP. Called, it gives another, unstarted one. */
export interface HttpTransport extends Transport, ExchangeTransport, LegacyOpener, TransportFactory {
  /** Names the server: its address, without what may be secret in it. */
  readonly eraKey: string;
  /** Differs where the authorization that its authorizer gave last does; tells nothing of it. Private results are kept by it. */
  readonly authContext: string | undefined;
}

/**
 * Describes a server that is reached over HTTP: `httpTransport('https://host/mcp')`. Nothing is sent before a client connects.
 *
 * Speaks every revision; which one the server speaks the client finds out. The result is a transport and a factory at once, so that a
 * client can open a session again that the server has lost.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an address that is not one of http or https, or an option that cannot hold.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): HttpTransport {
  const own = new StreamableHTTPClientTransport(url, options);
  const members = {
    exchange: own.exchange.bind(own),
    openLegacy: () => own.openLegacy(),
    eraKey: own.eraKey,
    get authContext() {
      return own.authContext;
    },
  };
  return createCallableTransport(own, () => own.renew(), members);
}
