/** v1's options of HTTP client transports, and its provider as our authorizer. */

import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import type { HttpClientOptions } from '@mortise/transport-http/client';
import { createFetchWithInit, type FetchLike } from '../shared/transport.ts';
import { auth } from './auth/authorize.ts';
import { type ChallengeParams, extractWWWAuthenticateParams } from './auth/challenge.ts';
import { type OAuthClientProvider, UnauthorizedError } from './auth/provider.ts';
import { StreamableHTTPError } from './http-errors.ts';

/** The options that v1's HTTP client transports share. */
export interface HttpOptions {
  authProvider?: OAuthClientProvider | undefined;
  requestInit?: RequestInit | undefined;
  fetch?: FetchLike | undefined;
  /** `follow` leaves redirects to `fetch`. By default they are followed within the origin. */
  redirectPolicy?: 'same-origin' | 'follow' | undefined;
}

/** Returns our options for those of v1. */
export function toHttpOptions(options: HttpOptions, authorizer: Authorizer | undefined): HttpClientOptions {
  const { requestInit, redirectPolicy } = options;
  const send = options.fetch ?? fetch;
  return {
    ...(requestInit === undefined ? {} : { requestInit }),
    ...(authorizer === undefined ? {} : { authorizer }),
    ...(redirectPolicy === 'follow' ? { fetch: (url, init) => send(url, { ...init, redirect: 'follow' }).then(asIfDirect) } : {}),
    ...(redirectPolicy !== 'follow' && options.fetch !== undefined ? { fetch: options.fetch } : {}),
  };
}

/** Returns a response that does not say that it was redirected: our client refuses one that was redirected to another origin. */
function asIfDirect(response: Response): Response {
  return response.redirected ? new Response(response.body, response) : response;
}

/** Signs in by a provider when the server asks for it. */
export class ProviderAuthorizer implements Authorizer {
  readonly #provider: OAuthClientProvider;
  readonly #serverUrl: string | URL;
  readonly #fetchFn: FetchLike;
  /** What the last challenge asked for. `finishAuth` needs it, too. */
  #asked: ChallengeParams = {};
  /** The challenge for more scope that was answered last, while a request is repeated. */
  #stepUp: string | undefined;

  constructor(provider: OAuthClientProvider, serverUrl: string | URL, { fetch: fetchFn, requestInit }: HttpOptions) {
    this.#provider = provider;
    this.#serverUrl = serverUrl;
    this.#fetchFn = createFetchWithInit(fetchFn, requestInit);
  }

  async headers(): Promise<Record<string, string>> {
    const tokens = await this.#provider.tokens();
    return tokens ? { Authorization: `Bearer ${tokens.access_token}` } : {};
  }

  async onChallenge({ status, header, attempt }: Challenge): Promise<'retry' | 'fail'> {
    const asked = extractWWWAuthenticateParams({ headers: { get: (name) => header(name) ?? null } });
    if (attempt === 1) this.#stepUp = undefined;
    if (status === 403) {
      if (asked.error !== 'insufficient_scope') return 'fail';
      const challenge = header('WWW-Authenticate');
      if (this.#stepUp === challenge) throw new StreamableHTTPError(403, 'Server returned 403 after trying upscoping');
      this.#stepUp = challenge;
    } else if (attempt > 1) {
      throw new StreamableHTTPError(401, 'Server returned 401 after successful authentication');
    }
    this.#asked = asked;
    if ((await this.#sign()) !== 'AUTHORIZED') throw new UnauthorizedError();
    return 'retry';
  }

  /** Exchanges the code with which the user came back. @throws {UnauthorizedError} There are no tokens. */
  async finish(authorizationCode: string): Promise<void> {
    if ((await this.#sign(authorizationCode)) !== 'AUTHORIZED') throw new UnauthorizedError('Failed to authorize');
  }

  #sign(authorizationCode?: string): Promise<'AUTHORIZED' | 'REDIRECT'> {
    const { resourceMetadataUrl, scope } = this.#asked;
    return auth(this.#provider, { serverUrl: this.#serverUrl, authorizationCode, resourceMetadataUrl, scope, fetchFn: this.#fetchFn });
  }
}
