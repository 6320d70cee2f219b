/** `protect`: requires access tokens for an MCP server. */

import { isMortiseError, type JsonObject } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, ScopeChallenger, TokenVerifier } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import { completeChallenge, formatChallenge } from '../www-authenticate.ts';
import { refuse } from './bearer-verifier.ts';
import { withToken } from './token-reader.ts';

/** The options of `protect`. */
export interface ProtectOptions {
  /** This server's URL as clients know it, without a fragment: `https://mcp.example.com/mcp`. */
  readonly resource: string;
  /** The issuers whose tokens the verifier accepts, the preferred one first. */
  readonly authorizationServers: readonly string[];
  /** Verifies tokens: `jwtVerifier`, `introspectionVerifier`, `dpopVerifier`, `bearerVerifier`, or your own. */
  readonly verifier: TokenVerifier;
  /** The scopes that every request needs. Keep the list short: tools have their own `scopes`. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** The scopes that a broader scope includes, directly or through others: `{ 'files:write': ['files:read'] }`. @default none */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * More members of the metadata: `resource_name`, `resource_documentation`, `dpop_bound_access_tokens_required`; or `scopes_supported`,
   * to list more than `scopes`.
   *
   * @default none
   * @see RFC 9728 section 2
   */
  readonly metadata?: JsonObject | undefined;
}

const OPTIONS: OptionTable<ProtectOptions> = {
  resource: 'string',
  authorizationServers: 'array',
  verifier: 'object',
  scopes: 'array',
  impliedScopes: 'object',
  metadata: 'object',
};

/** The result of `protect`, for a transport: `createHttpHandler(server, { tokenVerifier: verifier, resourceMetadata: metadata })`. */
export interface Protection {
  /** The verifier with the challenges: the option `tokenVerifier` of a transport. */
  readonly verifier: TokenVerifier & ScopeChallenger;
  /** The protected resource metadata of the server. @see RFC 9728 section 2 */
  readonly metadata: JsonObject;
  /** The URL of the protected resource metadata (RFC 9728), which names the authorization servers. */
  readonly metadataUrl: string;
}

/**
 * Requires access tokens for an MCP server.
 *
 * Adds the metadata URL and the required scopes to the verifier's challenges. A token that lacks one of `scopes` gets a 403 that names
 * all of them.
 *
 * @throws {TypeError} An option is invalid.
 * @see 2026-07-28 basic/authorization
 */
export function protect(options: ProtectOptions): Protection {
  checkOptions('protect', options, OPTIONS);
  const { resource, authorizationServers, scopes = [], metadata: more } = options;
  checkHttpUrl('resource', resource);
  if (resource.includes('#')) throw new TypeError(`protect: "resource" must not have a fragment, got "${resource}"`);
  if (authorizationServers.length === 0) throw new TypeError('protect: "authorizationServers" is empty: name at least one issuer');
  for (const issuer of authorizationServers) checkHttpUrl('authorizationServers', issuer);
  const metadata: JsonObject = {
    resource,
    authorization_servers: [...authorizationServers],
    bearer_methods_supported: ['header'],
    ...(scopes.length === 0 ? {} : { scopes_supported: [...scopes] }),
    ...more,
  };
  const supported = metadata['scopes_supported'];
  for (const scope of [...scopes, ...(Array.isArray(supported) ? supported : []), ...Object.entries(options.impliedScopes ?? {}).flat(2)])
    checkScope(String(scope));
  const metadataUrl = toMetadataUrl(resource);
  return { verifier: new ProtectingVerifier(options, metadataUrl), metadata, metadataUrl };
}

/** Gives the metadata URL of a resource: the well-known path is inserted between host and path. @see RFC 9728 section 3.1 */
export function toMetadataUrl(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`;
}

class ProtectingVerifier implements TokenVerifier, ScopeChallenger {
  readonly #inner: TokenVerifier;
  readonly #scopes: readonly string[];
  readonly #implied: ReadonlyMap<string, readonly string[]>;
  readonly #metadataUrl: string;

  constructor({ verifier, scopes = [], impliedScopes = {} }: ProtectOptions, metadataUrl: string) {
    this.#inner = verifier;
    this.#scopes = scopes;
    this.#implied = new Map(Object.entries(impliedScopes));
    this.#metadataUrl = metadataUrl;
  }

  async verify(...[request, options]: Parameters<TokenVerifier['verify']>): Promise<AuthInfo> {
    const info = await this.#inner.verify(request, options).catch((error: unknown) => {
      throw this.#complete(error);
    });
    const scopes = this.#expand(info.scopes);
    if (this.#scopes.some((scope) => !scopes.includes(scope))) {
      throw refuse(403, 'The token lacks a scope that every request to this server needs', request.scheme ?? 'Bearer', {
        error: 'insufficient_scope',
        scope: this.#scopes.join(' '),
        resource_metadata: this.#metadataUrl,
      });
    }
    return scopes.length === info.scopes.length ? info : withToken({ ...info, scopes }, info.token);
  }

  /**
   * Creates the challenge for a token that lacks scopes. Names the scopes of the operation, those that every request needs, and those
   * already granted, so that a client that requests only the named scopes keeps what it has.
   */
  challengeScopes(auth: AuthInfo, scopes: readonly string[], { scheme }: { readonly scheme: string }): string {
    const all = new Set([...this.#scopes, ...scopes, ...auth.scopes]);
    return formatChallenge(scheme, { error: 'insufficient_scope', scope: [...all].join(' '), resource_metadata: this.#metadataUrl });
  }

  #complete(error: unknown): unknown {
    if (!isChallenge(error) || error.challenge === '') return error;
    const challenge = completeChallenge(error.challenge, {
      scope: this.#scopes.length === 0 || error.status === 400 ? undefined : this.#scopes.join(' '),
      resource_metadata: this.#metadataUrl,
    });
    return new AuthChallengeError(error.message, { status: error.status, challenge, headers: error.headers }, { cause: error });
  }

  /** Adds the scopes that the given scopes include by `impliedScopes`. */
  #expand(scopes: readonly string[]): readonly string[] {
    if (this.#implied.size === 0) return scopes;
    const all = new Set(scopes);
    // The loop also goes through the scopes that it adds.
    for (const scope of all) for (const held of this.#implied.get(scope) ?? []) all.add(held);
    return [...all];
  }
}

function isChallenge(error: unknown): error is AuthChallengeError {
  return isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE';
}

function checkHttpUrl(option: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))) return;
  throw new TypeError(`protect: "${option}" must be an https URL (http only on this machine), got "${value}"`);
}

/** Checks a scope: no wildcard (SEC-021), no `offline_access`. @see RFC 6749 section 3.3; 2026-07-28 basic/authorization#refresh-tokens */
function checkScope(scope: string): void {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
    throw new TypeError(`protect: the scope "${scope}" must not contain spaces, quotes, backslashes or non-ASCII characters`);
  if (scope === '*') throw new TypeError('protect: the scope "*" is not allowed: name the scopes that are needed');
  if (scope === 'offline_access')
    throw new TypeError('protect: leave out the scope "offline_access": clients request it from the authorization server');
}
