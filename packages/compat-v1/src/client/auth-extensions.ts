/** `/client/auth-extensions`: providers that sign a client in without a user. */

import { importJWK, importPKCS8, type JWK, SignJWT } from 'jose';
import type { OAuthClientInformation, OAuthClientMetadata, OAuthTokens } from '../shared/auth.ts';
import type { AddClientAuthentication, OAuthClientProvider } from './auth/provider.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const LIFETIME_SECONDS = 300;

export interface PrivateKeyJwtAuthOptions {
  issuer: string;
  subject: string;
  /** PKCS #8 as PEM text, a JWK, or bytes; for HS algorithms the shared secret. */
  privateKey: string | Uint8Array | Record<string, unknown>;
  alg: string;
  /** @default the issuer of the authorization server, or its token endpoint */
  audience?: string | URL | undefined;
  /** @default 300 */
  lifetimeSeconds?: number | undefined;
  /** Further claims. */
  claims?: Record<string, unknown> | undefined;
}

/** Makes a function that authenticates a client by a signed assertion. @see RFC 7523 section 2.2 */
export function createPrivateKeyJwtAuth(options: PrivateKeyJwtAuthOptions): AddClientAuthentication {
  return async (_headers, params, url, metadata) => {
    const { issuer, subject, alg, claims, lifetimeSeconds = LIFETIME_SECONDS } = options;
    const now = Math.floor(Date.now() / 1000);
    const assertion = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(String(options.audience ?? metadata?.issuer ?? url))
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .setJti(crypto.randomUUID())
      .sign(await importKey(options.privateKey, alg));
    addAssertion(params, assertion);
  };
}

type SigningKey = Parameters<SignJWT['sign']>[0];

function importKey(key: PrivateKeyJwtAuthOptions['privateKey'], alg: string): SigningKey | Promise<SigningKey> {
  const isShared = alg.startsWith('HS');
  if (typeof key !== 'string' && !(key instanceof Uint8Array)) return importJWK(key as JWK, alg);
  if (isShared) return typeof key === 'string' ? new TextEncoder().encode(key) : key;
  if (!/^(?:RS|ES|PS)/.test(alg)) throw new Error(`Unsupported algorithm ${alg}`);
  return importPKCS8(typeof key === 'string' ? key : new TextDecoder().decode(key), alg);
}

function addAssertion(params: URLSearchParams, assertion: string): void {
  params.set('client_assertion', assertion);
  params.set('client_assertion_type', ASSERTION_TYPE);
}

interface BaseOptions {
  clientId: string;
  clientName?: string | undefined;
  scope?: string | undefined;
  /** The authorization server that the credentials are for. They are sent to no other. */
  expectedIssuer?: string | undefined;
}

export interface ClientCredentialsProviderOptions extends BaseOptions {
  clientSecret: string;
}

export interface PrivateKeyJwtProviderOptions extends BaseOptions {
  privateKey: string | Uint8Array | Record<string, unknown>;
  algorithm: string;
  /** @default 300 */
  jwtLifetimeSeconds?: number | undefined;
}

export interface StaticPrivateKeyJwtProviderOptions extends BaseOptions {
  /** An assertion that something else has signed. */
  jwtBearerAssertion: string;
}

/** Keeps the tokens in memory, and asks for them by the grant `client_credentials`. */
abstract class ProviderWithoutUser implements OAuthClientProvider {
  readonly redirectUrl: undefined = undefined;
  readonly clientMetadata: OAuthClientMetadata;
  #client: OAuthClientInformation;
  #tokens: OAuthTokens | undefined;

  constructor({ clientId, clientName, scope, expectedIssuer }: BaseOptions, defaultName: string, method: string, secret?: string) {
    if (expectedIssuer !== undefined && !expectedIssuer) throw new Error("expectedIssuer must be the authorization server's issuer URL");
    if (expectedIssuer === undefined)
      console.warn(
        'Without expectedIssuer, the MCP server chooses which authorization server gets these credentials: pass its issuer URL.',
      );
    this.clientMetadata = {
      client_name: clientName ?? defaultName,
      redirect_uris: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: method,
      ...(scope === undefined ? {} : { scope }),
    };
    this.#client = {
      client_id: clientId,
      ...(secret === undefined ? {} : { client_secret: secret }),
      ...(expectedIssuer === undefined ? {} : { issuer: expectedIssuer }),
    };
  }

  clientInformation(): OAuthClientInformation {
    return this.#client;
  }

  saveClientInformation(info: OAuthClientInformation): void {
    this.#client = info;
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(): void {
    throw new Error('This client signs in without a user');
  }

  saveCodeVerifier(): void {
    // There is no code.
  }

  codeVerifier(): string {
    throw new Error('This client signs in without a code');
  }

  prepareTokenRequest(scope?: string): URLSearchParams {
    return new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) });
  }
}

/** Signs in by an id and a secret. */
export class ClientCredentialsProvider extends ProviderWithoutUser {
  constructor(options: ClientCredentialsProviderOptions) {
    super(options, 'client-credentials-client', 'client_secret_basic', options.clientSecret);
  }
}

/** Signs in by an assertion that it signs for each token request. */
export class PrivateKeyJwtProvider extends ProviderWithoutUser {
  readonly addClientAuthentication: AddClientAuthentication;

  constructor(options: PrivateKeyJwtProviderOptions) {
    super(options, 'private-key-jwt-client', 'private_key_jwt');
    const { clientId, privateKey, algorithm, jwtLifetimeSeconds } = options;
    const key = { privateKey, alg: algorithm, lifetimeSeconds: jwtLifetimeSeconds };
    this.addClientAuthentication = createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, ...key });
  }
}

/** Signs in by an assertion that is given. */
export class StaticPrivateKeyJwtProvider extends ProviderWithoutUser {
  readonly addClientAuthentication: AddClientAuthentication;

  constructor(options: StaticPrivateKeyJwtProviderOptions) {
    super(options, 'static-private-key-jwt-client', 'private_key_jwt');
    this.addClientAuthentication = (_headers, params) => addAssertion(params, options.jwtBearerAssertion);
  }
}
