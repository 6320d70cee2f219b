/** Tokens that only their issuer can read. @see RFC 7662 */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import * as oauth from 'oauth4webapi';
import { AuthOptionError } from '../errors.ts';
import { toAuthInfo } from './auth-info.ts';
import { bearerVerifier } from './bearer-verifier.ts';
import { checkIssuer } from './check-issuer.ts';
import { BoundedCache } from './bounded-cache.ts';
import { digest } from './digest.ts';
import { InvalidTokenError, TokenSourceError } from './errors.ts';
import { fetchIssuerMetadata, toRequestOptions } from './issuer-metadata.ts';
import type { TokenReader } from './token-reader.ts';

/** The options of `introspectionVerifier`. */
export interface IntrospectionVerifierOptions {
  readonly issuer: string;
  /** What tokens must have been issued for: this server's URL as clients know it. With several, any one of them. */
  readonly audience: string | readonly string[];
  /** Who this server is at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is sent. @default 'client_secret_basic' */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | undefined;
  /** Where tokens are asked about. @default what the issuer's metadata says */
  readonly introspectionEndpoint?: string | undefined;
  /** How long an answer is used again, and so how long a revoked token still works, in milliseconds. @default 0 */
  readonly cacheMs?: number | undefined;
  /** How many answers are kept. @default 1_000 */
  readonly maxCached?: number | undefined;
  /** How far the issuer's clock may be off, in seconds. @default 30 */
  readonly clockToleranceSeconds?: number | undefined;
  /** How long the issuer may take to answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /** Reads the scopes that were granted. @default the member `scope`, else `scp` */
  readonly readScopes?: ((claims: Readonly<Record<string, unknown>>) => readonly string[]) | undefined;
  /** What the issuer is asked by. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Tells whether tokens and kept answers have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

const RULES: OptionRules<IntrospectionVerifierOptions> = {
  issuer: 'no number',
  audience: 'no number',
  clientId: 'no number',
  clientSecret: 'no number',
  clientAuthentication: 'no number',
  introspectionEndpoint: 'no number',
  cacheMs: 0,
  maxCached: 0,
  clockToleranceSeconds: 0,
  timeoutMs: 0,
  readScopes: 'no number',
  fetch: 'no number',
  clock: 'no number',
};

/**
 * Verifies tokens by asking their issuer. A token whose audience the issuer does not tell is refused. Also a `TokenReader`.
 *
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold.
 * @see 2026-07-28 basic/authorization#token-handling
 */
export function introspectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier & TokenReader {
  checkOptionRules('introspectionVerifier', options, RULES, AuthOptionError);
  checkIssuer(options);
  const reader = new IntrospectionReader(options);
  const { clockToleranceSeconds = 30, clock = systemClock } = options;
  const { verify } = bearerVerifier(reader, { clockToleranceSeconds, clock });
  return { verify, read: (token) => reader.read(token) };
}

class IntrospectionReader implements TokenReader {
  readonly #options: IntrospectionVerifierOptions;
  readonly #fetch: typeof globalThis.fetch;
  readonly #answers: BoundedCache<oauth.IntrospectionResponse>;
  #server: oauth.AuthorizationServer | undefined;

  constructor(options: IntrospectionVerifierOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#answers = new BoundedCache(options.maxCached ?? 1_000, options.clock ?? systemClock);
  }

  async read(token: string): Promise<AuthInfo> {
    const { cacheMs = 0, issuer, readScopes } = this.#options;
    const key = await digest(token);
    const answer = this.#answers.get(key) ?? (await this.#ask(token));
    if (cacheMs > 0 && answer.active) this.#answers.set(key, answer, cacheMs);
    return toAuthInfo(answer, { issuer, resource: this.#check(answer), token, readScopes });
  }

  /** @returns The audience that is ours. */
  #check({ active, iss, aud, exp, nbf }: oauth.IntrospectionResponse): string {
    const { audience, issuer, clockToleranceSeconds = 30, clock = systemClock } = this.#options;
    if (!active) throw new InvalidTokenError('The token is not active');
    if (iss !== undefined && iss !== issuer) throw new InvalidTokenError('The token is of another issuer');
    const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
    const own = (typeof audience === 'string' ? [audience] : audience).find((one) => named.includes(one));
    if (own === undefined) throw new InvalidTokenError('The token was issued for another audience');
    // Text would be joined to the tolerance, not added.
    if (![exp, nbf].every((time: unknown) => time === undefined || Number.isFinite(time)))
      throw new InvalidTokenError('The times of the token are no numbers');
    const seconds = clock.now() / 1000;
    if (exp !== undefined && exp + clockToleranceSeconds <= seconds) throw new InvalidTokenError('The token has expired');
    if (nbf !== undefined && nbf - clockToleranceSeconds > seconds) throw new InvalidTokenError('The token is not valid yet');
    return own;
  }

  async #ask(token: string): Promise<oauth.IntrospectionResponse> {
    const { clientId, clientSecret, clientAuthentication } = this.#options;
    const client = { client_id: clientId };
    const authenticate = clientAuthentication === 'client_secret_post' ? oauth.ClientSecretPost : oauth.ClientSecretBasic;
    try {
      const server = await this.#findServer();
      const options = toRequestOptions(server.introspection_endpoint ?? '', this.#fetchOptions);
      const response = await oauth.introspectionRequest(server, client, authenticate(clientSecret), token, options);
      return await oauth.processIntrospectionResponse(server, client, response);
    } catch (error) {
      throw error instanceof TokenSourceError
        ? error
        : new TokenSourceError('The issuer did not say whether the token holds', { cause: error });
    }
  }

  async #findServer(): Promise<oauth.AuthorizationServer> {
    const { issuer, introspectionEndpoint } = this.#options;
    this.#server ??=
      introspectionEndpoint === undefined
        ? await fetchIssuerMetadata(issuer, this.#fetchOptions)
        : { issuer, introspection_endpoint: introspectionEndpoint };
    if (this.#server.introspection_endpoint === undefined) throw new TokenSourceError(`The issuer ${issuer} has no introspection endpoint`);
    return this.#server;
  }

  get #fetchOptions(): { readonly fetch: typeof globalThis.fetch; readonly timeoutMs: number } {
    return { fetch: this.#fetch, timeoutMs: this.#options.timeoutMs ?? 5_000 };
  }
}
