/** From the `Authorization` header to whom a request speaks for, through the program's `TokenVerifier`. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import type { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { checkAuthInfo, parseAuthorization } from '@mortise/protocol/edge';
import type { HeaderList, HttpRequest } from './http-request.ts';
import { HttpRefusal } from './refusal.ts';

/** What verifying needs beside the request. */
export interface VerifyContext {
  readonly verifier: TokenVerifier;
  /** The absolute URL that was asked for. */
  readonly url: string;
  /** Where the protected resource metadata is, for challenges that do not say. */
  readonly metadataUrl: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Verifies the request's token.
 *
 * @throws {HttpRefusal} What the verifier challenged with; 500 for a fault of its own, which says nothing of its cause.
 */
export async function verifyToken(request: HttpRequest, context: VerifyContext): Promise<AuthInfo> {
  const { scheme, token } = readCredentials(request.header('authorization'));
  try {
    const subject = {
      scheme,
      token,
      method: request.method,
      url: context.url,
      header: (name: string) => request.header(name.toLowerCase()),
    };
    return checkAuthInfo(await context.verifier.verify(subject, { signal: context.signal }));
  } catch (error) {
    if (isChallenge(error)) throw toChallengeRefusal(error, context.metadataUrl);
    throw error;
  }
}

function readCredentials(header: string | undefined): { readonly scheme: string | undefined; readonly token: string | undefined } {
  if (header === undefined) return { scheme: undefined, token: undefined };
  const credentials = parseAuthorization(header);
  if (!credentials) throw new HttpRefusal(400, 'The "Authorization" header must hold one scheme and one token');
  return credentials;
}

function isChallenge(error: unknown): error is AuthChallengeError {
  return isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE';
}

function toChallengeRefusal(error: AuthChallengeError, metadataUrl: string | undefined): HttpRefusal {
  const headers: HeaderList = [
    ...Object.entries(error.headers).flat(),
    ...(error.challenge === '' ? [] : ['WWW-Authenticate', withMetadata(error.challenge, metadataUrl)]),
  ];
  return new HttpRefusal(error.status, error.message, { headers });
}

function withMetadata(challenge: string, metadataUrl: string | undefined): string {
  if (metadataUrl === undefined || /\bresource_metadata\s*=/i.test(challenge)) return challenge;
  return `${challenge}${challenge.includes(' ') ? ',' : ''} resource_metadata="${metadataUrl}"`;
}
