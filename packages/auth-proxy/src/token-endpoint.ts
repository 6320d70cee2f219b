/** The token endpoint and the revocation endpoint. @see RFC 6749 section 5; RFC 7009 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isSameResource, readScopes } from './authorization-request.ts';
import type { ProxyClient } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import { jsonResponse } from './http.ts';
import { digest } from './secrets.ts';
import type { ProxyParts } from './sign-in.ts';

/** `POST /token`: issues tokens. @throws {OAuthRefusal} The client, its authorization code or its refresh token is invalid. */
export async function serveToken(httpRequest: Request, form: URLSearchParams, parts: ProxyParts): Promise<Response> {
  checkSingle(form);
  const client = await authenticate(httpRequest, form, parts);
  const resource = form.get('resource');
  if (resource !== null && !isSameResource(resource, parts.settings.resource))
    throw new OAuthRefusal('invalid_target', 'This server does not issue tokens for the requested "resource"');
  const grantType = form.get('grant_type');
  if (grantType === 'authorization_code') return jsonResponse(200, await redeemCode(form, client, parts));
  if (grantType === 'refresh_token') return jsonResponse(200, await refresh(form, client, parts));
  throw new OAuthRefusal('unsupported_grant_type', 'The grant type must be "authorization_code" or "refresh_token"');
}

/** `POST /revoke`. Responds alike to unknown tokens and to tokens of other clients. @throws {OAuthRefusal} The client is unknown. */
export async function serveRevocation(httpRequest: Request, form: URLSearchParams, parts: ProxyParts): Promise<Response> {
  checkSingle(form);
  const client = await authenticate(httpRequest, form, parts);
  const token = form.get('token');
  if (token === null) throw new OAuthRefusal('invalid_request', 'The parameter "token" is missing');
  const grant = (await parts.grants.peek(token)) ?? (await parts.grants.findAccess(token))?.grant;
  if (grant?.clientId === client.clientId) await parts.grants.end(grant);
  return jsonResponse(200, {});
}

async function redeemCode(form: URLSearchParams, client: ProxyClient, { grants }: ProxyParts): Promise<JsonObject> {
  const verifier = form.get('code_verifier') ?? '';
  if (!/^[\w.~-]{43,128}$/.test(verifier))
    throw new OAuthRefusal('invalid_request', 'The "code_verifier" must have 43 to 128 letters, digits or "-._~"');
  const { grant, redirectUri, codeChallenge } = await grants.redeem(form.get('code') ?? '');
  const isTheirs = grant.clientId === client.clientId && form.get('redirect_uri') === redirectUri;
  if (isTheirs && codeChallenge === (await digest(verifier))) return grants.issue(grant, grant.scopes);
  // The caller is not the client that the code was issued to.
  await grants.end(grant);
  throw new OAuthRefusal('invalid_grant', 'The code was issued for another client, redirect URI or PKCE verifier');
}

async function refresh(form: URLSearchParams, client: ProxyClient, { grants }: ProxyParts): Promise<JsonObject> {
  const token = form.get('refresh_token') ?? '';
  const known = await grants.peek(token);
  if (known !== undefined && known.clientId !== client.clientId)
    throw new OAuthRefusal('invalid_grant', 'The refresh token was issued to another client');
  const scopes = known === undefined ? [] : readScopes(form.get('scope'), known.scopes);
  if (scopes === undefined) throw new OAuthRefusal('invalid_scope', 'A scope was not granted: sign in again to request it');
  // Before `rotate`, because this may fail temporarily. If it failed afterwards, the client's retry would count as a second use.
  if (known !== undefined) await grants.upstreamTokens(known);
  return grants.issue(await grants.rotate(token), scopes);
}

async function authenticate(httpRequest: Request, form: URLSearchParams, { clients }: ProxyParts): Promise<ProxyClient> {
  const basic = readBasic(httpRequest.headers.get('authorization'));
  const inBody = form.get('client_secret') ?? undefined;
  if (basic !== undefined && inBody !== undefined)
    throw new OAuthRefusal('invalid_request', 'The client authenticates with two methods: use one');
  const clientId = basic?.clientId ?? form.get('client_id');
  if (basic !== undefined && ![null, basic.clientId].includes(form.get('client_id')))
    throw new OAuthRefusal('invalid_request', 'The client sends two different client ids');
  const client = clientId === null ? undefined : await clients.find(clientId);
  const secret = basic?.secret ?? inBody;
  if (client !== undefined && (await holdsSecret(client, secret))) return client;
  throw new OAuthRefusal('invalid_client', 'The client is unknown, or its secret is wrong', { status: 401 });
}

async function holdsSecret({ secretDigest }: ProxyClient, secret: string | undefined): Promise<boolean> {
  if (secretDigest === undefined) return secret === undefined || secret === '';
  return secret !== undefined && secretDigest === (await digest(secret));
}

function readBasic(header: string | null): { readonly clientId: string; readonly secret: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  try {
    // Id and secret are form-encoded before they are joined by a colon (RFC 6749 section 2.3.1).
    const [clientId, secret] = atob(encoded)
      .split(':')
      .map((half) => decodeURIComponent(half.replaceAll('+', ' ')));
    if (clientId !== undefined && secret !== undefined) return { clientId, secret };
  } catch {
    // Invalid base64 or percent-encoding is refused below.
  }
  throw new OAuthRefusal('invalid_client', 'The "Authorization" header must be Basic with the encoded client id and secret', {
    status: 401,
  });
}

function checkSingle(form: URLSearchParams): void {
  const names = [...form.keys()];
  if (new Set(names).size !== names.length) throw new OAuthRefusal('invalid_request', 'A parameter of the request occurs more than once');
}
