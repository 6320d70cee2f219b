/** Verification of tokens by introspection at their issuer. @see RFC 7662 */

import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import * as oauth from 'oauth4webapi';
import { InvalidTokenError } from '../errors.ts';
import { bearerOf } from './bearer-verifier.ts';
import { AnswerCache, authenticate, checkAudience, Issuer, type IssuerMetadata, type IssuerOptions, toSourceError } from './issuer.ts';
import { type Claims, digest, findAudience, toAuthInfo, type TokenReader } from './token-reader.ts';

/** The options of `introspectionVerifier`. */
export interface IntrospectionVerifierOptions extends IssuerOptions {
  readonly issuer: string;
  /** The audience that tokens must have: this server's URL as clients know it. Of several, a token must have one. */
  readonly audience: string | readonly string[];
  /** The client id of this server at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The issuer's metadata, with `introspection_endpoint`, if the issuer publishes none. @default the published metadata */
  readonly metadata?: IssuerMetadata | undefined;
  /** How long the issuer's response is cached, in milliseconds. A revoked token still works for that time. @default 0 */
  readonly cacheMs?: number | undefined;
  /** Reads the granted scopes from the introspection response. @default the member `scope`, else `scp` */
  readonly readScopes?: ((claims: Claims) => readonly string[]) | undefined;
}

const OPTIONS: OptionTable<IntrospectionVerifierOptions> = {
  issuer: 'string',
  audience: ['string', 'array'],
  clientId: 'string',
  clientSecret: 'string',
  metadata: 'object',
  cacheMs: 0,
  readScopes: 'function',
  fetch: 'function',
  clock: 'object',
};

/** How far the issuer's clock may differ from this server's clock. */
const TOLERANCE_SECONDS = 30;

/**
 * Creates a verifier that asks the issuer about each token. A token without the required audience is refused. The verifier is also a
 * `TokenReader`, for `dpopVerifier`.
 *
 * @throws {TypeError} An option is invalid.
 * @see 2026-07-28 basic/authorization#token-handling
 */
export function introspectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier & TokenReader {
  checkOptions('introspectionVerifier', options, OPTIONS);
  checkAudience(options.audience);
  const { issuer, audience, cacheMs = 0, readScopes, fetch, clock = systemClock } = options;
  const source = new Issuer(issuer, fetch, options.metadata);
  const answers = new AnswerCache<oauth.IntrospectionResponse>(clock);
  const reader: TokenReader = {
    read: async (token): Promise<AuthInfo> => {
      const key = await digest(token);
      const answer = answers.get(key) ?? (await introspect(token, source, options));
      if (cacheMs > 0 && answer.active) answers.set(key, answer, cacheMs);
      checkAnswer(answer, issuer, clock.now() / 1000);
      return toAuthInfo(answer, { issuer, resource: findAudience(answer.aud, audience), token, readScopes });
    },
  };
  return { ...reader, ...bearerOf(reader.read, { clockToleranceSeconds: TOLERANCE_SECONDS, clock }) };
}

async function introspect(
  token: string,
  source: Issuer,
  { issuer, clientId, clientSecret }: IntrospectionVerifierOptions,
): Promise<oauth.IntrospectionResponse> {
  const client = { client_id: clientId };
  try {
    const server = await source.metadata();
    const { introspection_endpoint: endpoint, introspection_endpoint_auth_methods_supported: methods } = server;
    const options = source.requestOptions(endpoint);
    const response = await oauth.introspectionRequest(server, client, authenticate(clientSecret, methods), token, options);
    return await oauth.processIntrospectionResponse(server, client, response);
  } catch (cause) {
    throw toSourceError(`The token introspection at ${issuer} failed`, cause);
  }
}

function checkAnswer({ active, iss, exp, nbf }: oauth.IntrospectionResponse, issuer: string, seconds: number): void {
  if (!active) throw new InvalidTokenError('The token is not active');
  if (iss !== undefined && iss !== issuer) throw new InvalidTokenError('The issuer of the token is not accepted');
  // With a string, `+` below would concatenate.
  if (![exp, nbf].every((time: unknown) => time === undefined || Number.isFinite(time)))
    throw new InvalidTokenError('The exp or nbf of the token is not a number');
  if (exp !== undefined && exp + TOLERANCE_SECONDS <= seconds) throw new InvalidTokenError('The token has expired');
  if (nbf !== undefined && nbf - TOLERANCE_SECONDS > seconds) throw new InvalidTokenError('The token is not valid yet');
}
