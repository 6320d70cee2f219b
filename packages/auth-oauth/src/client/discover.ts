/** Finds out which authorization server protects a server, and what it offers. */

import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import type { AuthorizationServer } from 'oauth4webapi';
import { type DiscoveryAttempt, DiscoveryError, IssuerMismatchError, ResourceMismatchError } from '../errors.ts';
import { nameUrl, type SafeFetch, type SafeResponse } from '../safe-fetch.ts';
import { splitScopes } from './token-request.ts';
import { canonicalUri, type ResourceCandidate, resourceCandidates, serverCandidates } from './well-known.ts';

/** What a server says of its protection. @see RFC 9728 section 2 */
export interface ResourceMetadata {
  /** Exactly as the server wrote it: sent as it is with every request for a token. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
}

/** What discovery wants to know. */
export interface DiscoveryInput {
  readonly server: URL;
  /** `resource_metadata` of the challenge, where it had one. */
  readonly challenged: string | undefined;
  /** The identifier that the metadata must name, where the program knows it. */
  readonly resource: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads documents until one counts: any 4xx, and any 200 that is no JSON object, is a miss. */
async function firstDocument<T>(
  fetchPeer: SafeFetch,
  candidates: readonly { readonly url: string }[],
  options: { readonly what: string; readonly signal: AbortSignal | undefined; readonly headers?: Readonly<Record<string, string>> },
  read: (document: Readonly<Record<string, unknown>>, index: number, attempts: DiscoveryAttempt[]) => T | undefined,
): Promise<{ readonly found: T | undefined; readonly attempts: readonly DiscoveryAttempt[] }> {
  const attempts: DiscoveryAttempt[] = [];
  for (const [index, { url }] of candidates.entries()) {
    const headers = { accept: 'application/json', ...options.headers };
    const answer = await fetchPeer(url, { headers, signal: options.signal });
    const document = toObject(answer);
    if (document !== undefined) {
      const found = read(document, index, attempts);
      if (found !== undefined) return { found, attempts };
      continue;
    }
    attempts.push({ url: nameUrl(url), answer: describeMiss(answer) });
    if (answer.status >= 500 || answer.status < 200) {
      throw new DiscoveryError(`${options.what} cannot be had at present; what was tried:`, attempts);
    }
  }
  return { found: undefined, attempts };
}

function toObject({ status, text }: SafeResponse): Readonly<Record<string, unknown>> | undefined {
  if (status !== 200) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function describeMiss({ status }: SafeResponse): string {
  return status === 200 ? '200, but no JSON object' : String(status);
}

/**
 * Finds a server's protected resource metadata.
 *
 * @returns undefined for a server that has none anywhere, with what was tried.
 * @throws {ResourceMismatchError} It speaks of another resource. {DiscoveryError} A candidate failed with 5xx.
 */
export async function discoverResource(
  fetchPeer: SafeFetch,
  { server, challenged, resource, signal }: DiscoveryInput,
): Promise<{ readonly found: ResourceMetadata | undefined; readonly attempts: readonly DiscoveryAttempt[] }> {
  const candidates = resourceCandidates(server, challenged);
  let mismatch: string | undefined;
  const options = { what: 'Protected resource metadata', signal };
  const outcome = await firstDocument(fetchPeer, candidates, options, (document, index, attempts) => {
    const candidate = candidates[index];
    const metadata = toResourceMetadata(document);
    if (metadata !== undefined && candidate !== undefined && speaksOf(metadata.resource, server, candidate, resource)) return metadata;
    mismatch ??= metadata?.resource;
    const answer = metadata === undefined ? '200, but without "resource" and "authorization_servers"' : '200, but for another resource';
    attempts.push({ url: nameUrl(candidate?.url ?? ''), answer });
    return undefined;
  });
  if (outcome.found === undefined && mismatch !== undefined) {
    const tried = outcome.attempts.map(({ url, answer }) => `\n  ${url}: ${answer}`).join('');
    throw new ResourceMismatchError(
      `The protected resource metadata is for ${nameUrl(mismatch)} and not for ${nameUrl(server)}: give "resource" if you trust it; what was tried:${tried}`,
    );
  }
  return outcome;
}

function toResourceMetadata(document: Readonly<Record<string, unknown>>): ResourceMetadata | undefined {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  if (typeof resource !== 'string' || !isStrings(servers) || servers.length === 0) return undefined;
  return { resource, authorizationServers: servers, scopesSupported: isStrings(scopes) ? splitScopes(scopes.join(' ')) : undefined };
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The server itself; or, of a well-known place, the identifier that the place stands for, where that holds the server. */
function speaksOf(resource: string, server: URL, { identifier }: ResourceCandidate, expected: string | undefined): boolean {
  if (expected !== undefined) return resource === expected;
  if (!URL.canParse(resource) || resource.includes('#')) return false;
  const theirs = canonicalUri(resource);
  const ours = canonicalUri(server);
  if (theirs === ours) return true;
  if (identifier === undefined || theirs !== canonicalUri(identifier)) return false;
  return ours.startsWith(`${theirs}/`) || ours.startsWith(`${theirs}?`);
}

/**
 * Finds an authorization server's metadata.
 *
 * @param issuer Exactly as the protected resource metadata has it.
 * @throws {IssuerMismatchError} The document names another issuer. {DiscoveryError} There is no document.
 * @see RFC 8414 section 3.3
 */
export async function discoverIssuer(fetchPeer: SafeFetch, issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer)) throw new DiscoveryError('The server names an authorization server that is no URL', []);
  const candidates = serverCandidates(issuer).map((url) => ({ url }));
  const options = { what: 'Authorization server metadata', signal };
  const { found, attempts } = await firstDocument(fetchPeer, candidates, options, (document, index) => {
    if (document['issuer'] === issuer) return document as unknown as AuthorizationServer;
    throw new IssuerMismatchError(
      `${nameUrl(candidates[index]?.url ?? '')} names another issuer than ${nameUrl(issuer)}: nothing of it is used`,
    );
  });
  if (found) return found;
  throw new DiscoveryError(`The authorization server ${nameUrl(issuer)} publishes no metadata; what was tried:`, attempts);
}

/**
 * The authorization server of a server of the first revision with authorization: the server's own origin, with or without metadata.
 *
 * @see 2025-03-26 basic/authorization#server-metadata-discovery
 */
export async function discoverAtOrigin(fetchPeer: SafeFetch, server: URL, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
  const { origin } = server;
  const headers = { 'mcp-protocol-version': ASSUMED_WITHOUT_HEADER.version };
  const candidates = [{ url: `${origin}/.well-known/oauth-authorization-server` }];
  const options = { what: 'Authorization server metadata', signal, headers };
  const { found } = await firstDocument(fetchPeer, candidates, options, (document) => {
    if (document['issuer'] === origin || document['issuer'] === `${origin}/`) return document as unknown as AuthorizationServer;
    throw new IssuerMismatchError(`The metadata at ${origin} names another issuer: nothing of it is used`);
  });
  if (found) return found;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    // That revision demands PKCE of everyone, and has no metadata to say so in.
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
  };
}
