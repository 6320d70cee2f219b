/** `/server/auth/middleware/bearerAuth`: lets only requests with a valid token through. */

import type { RequestHandler } from 'express';
import { InsufficientScopeError, InvalidTokenError, type OAuthError } from '../errors.ts';
import type { OAuthTokenVerifier } from '../provider.ts';
import { refuse } from '../respond.ts';
import type { AuthInfo } from '../types.ts';

export type BearerAuthMiddlewareOptions = {
  verifier: OAuthTokenVerifier;
  /** The scopes that a token must have. */
  requiredScopes?: string[] | undefined;
  /** Where the resource metadata is. Challenges name it. */
  resourceMetadataUrl?: string | undefined;
  /** The resource that a token must have been issued for. */
  expectedResource?: string | URL | undefined;
};

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express has its types extended through this namespace, and in no other way
  namespace Express {
    interface Request {
      /** Who sent the request, once `requireBearerAuth` has let it through. */
      auth?: AuthInfo;
    }
  }
}

/**
 * Verifies the bearer token of each request, and puts what it says into `request.auth`. Without a valid token the status is 401; without a
 * required scope it is 403; both with a challenge. A token without an expiry is refused.
 */
export function requireBearerAuth(options: BearerAuthMiddlewareOptions): RequestHandler {
  return async (request, response, next) => {
    try {
      request.auth = await verify(request.headers.authorization, options);
    } catch (error) {
      const status = error instanceof InvalidTokenError ? 401 : error instanceof InsufficientScopeError ? 403 : undefined;
      if (status === undefined) return refuse(response, error);
      const refusal = error as OAuthError;
      response.set('WWW-Authenticate', toChallenge(refusal, options));
      response.status(status).json(refusal.toResponseObject());
      return;
    }
    next();
  };
}

async function verify(header: string | undefined, options: BearerAuthMiddlewareOptions): Promise<AuthInfo> {
  const { verifier, requiredScopes = [], expectedResource } = options;
  if (!header) throw new InvalidTokenError('Missing Authorization header');
  const [scheme = '', token] = header.split(' ');
  if (scheme.toLowerCase() !== 'bearer' || !token)
    throw new InvalidTokenError("Invalid Authorization header format, expected 'Bearer TOKEN'");
  const info = await verifier.verifyAccessToken(token);
  if (expectedResource !== undefined && toComparable(info.resource) !== toComparable(expectedResource))
    throw new InvalidTokenError('Token was not issued for this resource');
  if (!requiredScopes.every((scope) => info.scopes.includes(scope))) throw new InsufficientScopeError('Insufficient scope');
  if (typeof info.expiresAt !== 'number' || Number.isNaN(info.expiresAt)) throw new InvalidTokenError('Token has no expiration time');
  if (info.expiresAt < Date.now() / 1000) throw new InvalidTokenError('Token has expired');
  return info;
}

function toComparable(resource: string | URL | undefined): string | undefined {
  return resource === undefined ? undefined : String(resource).replace(/#.*$/s, '').replace(/\/$/, '');
}

function toChallenge(
  { errorCode, message }: OAuthError,
  { requiredScopes = [], resourceMetadataUrl }: BearerAuthMiddlewareOptions,
): string {
  const params = [`error="${errorCode}"`, `error_description="${message.replaceAll(/["\\\r\n]/g, "'")}"`];
  if (requiredScopes.length > 0) params.push(`scope="${requiredScopes.join(' ')}"`);
  if (resourceMetadataUrl) params.push(`resource_metadata="${resourceMetadataUrl}"`);
  return `Bearer ${params.join(', ')}`;
}
