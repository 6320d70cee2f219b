/** `/client/streamableHttp`: the client transport for Streamable HTTP. */

import { StreamableHTTPClientTransport as OwnTransport } from '@mortise/transport-http/client';
import { UnauthorizedError } from './auth/provider.ts';
import { type HttpOptions, ProviderAuthorizer, toHttpOptions } from './http-client-options.ts';

export { StreamableHTTPError } from './http-errors.ts';

/** How the transport reconnects. Only `maxRetries` has an effect: the waits grow from half a second to 30 seconds. */
export interface StreamableHTTPReconnectionOptions {
  maxReconnectionDelay: number;
  initialReconnectionDelay: number;
  reconnectionDelayGrowFactor: number;
  maxRetries: number;
}

export interface StreamableHTTPClientTransportOptions extends HttpOptions {
  reconnectionOptions?: StreamableHTTPReconnectionOptions | undefined;
  /** The id of a session to go on with. */
  sessionId?: string | undefined;
}

/**
 * The client transport for Streamable HTTP. Broken streams are resumed by themselves.
 *
 * With `authProvider` it signs in when the server asks for it. If that needs the user, `connect` rejects with `UnauthorizedError`: pass the
 * code with which the user comes back to `finishAuth`, and connect again.
 */
export class StreamableHTTPClientTransport extends OwnTransport {
  readonly #authorizer: ProviderAuthorizer | undefined;
  #version: string | undefined;

  constructor(url: URL, options: StreamableHTTPClientTransportOptions = {}) {
    const { authProvider, reconnectionOptions, sessionId } = options;
    const authorizer = authProvider === undefined ? undefined : new ProviderAuthorizer(authProvider, url, options);
    super(url, {
      ...toHttpOptions(options, authorizer),
      ...(reconnectionOptions === undefined ? {} : { reconnectionOptions: { maxRetries: reconnectionOptions.maxRetries } }),
      ...(sessionId === undefined ? {} : { sessionId }),
      // In v1, `close` leaves the session open: `terminateSession` ends it.
      keepsSession: true,
    });
    this.#authorizer = authorizer;
  }

  /** The protocol version that `initialize` agreed on. */
  get protocolVersion(): string | undefined {
    return this.#version;
  }

  override setProtocolVersion(version: string): void {
    this.#version = version;
    super.setProtocolVersion(version);
  }

  /** Exchanges the code with which the user came back from the authorization server. @throws {UnauthorizedError} It failed. */
  async finishAuth(authorizationCode: string): Promise<void> {
    if (this.#authorizer === undefined) throw new UnauthorizedError('No auth provider');
    await this.#authorizer.finish(authorizationCode);
  }
}
