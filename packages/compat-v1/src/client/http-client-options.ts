/** v1's options of HTTP client transports, and its provider as our authorizer. */

import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import type { HttpClientOptions } from '@mortise/transport-http/client';
import { createFetchWithInit, type FetchLike } from '../shared/transport.ts';
import { auth } from './auth/authorize.ts';
import { type ChallengeParams, extractWWWAuthenticateParams } from './auth/challenge.ts';
import { type OAuthClientProvider, UnauthorizedError } from './auth/provider.ts';
import { StreamableHTTPError } from './httpErrors.ts';

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
    ...(redirectPolicy === 'follow' ? { fetch: async (url, init) => { const r = await send(url, { ...init, redirect: 'follow' }); return new Response(r.body, r); } } : {}),
    ...(redirectPolicy !== 'follow' && options.fetch !== undefined ? { fetch: options.fetch } : {}),
  };
}

/** Signs in by a provider when the server asks for it. */
export class ProviderAuthorizer implements Authorizer {
  readonly #provider: OAuthClientProvider;
  readonly #serverUrl: string | URL;
  readonly #fetchFn: FetchLike;
  /** What the last challenge asked for. `finishAuth` needs it, too. */
  #asked: ChallengeParams = {};

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
    if (status === 403) {
      if (asked.error !== 'insufficient_scope') return 'fail';
      if (attempt > 1) throw new StreamableHTTPError(403, 'Server returned 403 after trying upscoping');
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
