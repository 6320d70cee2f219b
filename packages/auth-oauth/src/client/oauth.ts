/** `oauth`: an `Authorizer` that signs a user in with the authorization code flow. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { AuthError } from '../errors.ts';
import { AuthorizationCodeGrant } from './authorization-code.ts';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions, type OAuthAuthorizer } from './authorizer-options.ts';
import type { ClientKey, RegisteredClient } from './credentials.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';
import { checkClientMetadataUrl } from './register.ts';
import type { SignIn } from './sign-in.ts';

/** The options of `oauth`. */
export interface OAuthOptions extends AuthorizerOptions {
  /** How the user signs in: `loopbackSignIn` of `/node`, `redirectSignIn`, or your own. @default none: refresh works, sign-in rejects */
  readonly signIn?: SignIn | undefined;
  /** The client name for dynamic registration, which authorization servers show to the user. @default MCP client */
  readonly clientName?: string | undefined;
  /** Clients that you registered by hand, each used only at its `issuer`. They replace dynamic registration. @default none */
  readonly clients?: readonly RegisteredClient[] | undefined;
  /** The https URL of your client metadata document (`clientMetadataDocument`): the client id where that is supported. @default none */
  readonly clientMetadataUrl?: string | undefined;
  /** The private key for `clientMetadataUrl`. That document must have the public key and `private_key_jwt`. @default none */
  readonly clientMetadataKey?: ClientKey | undefined;
  /**
   * More members for the request of dynamic registration, such as `client_uri`; `client_name` and `application_type` may be replaced.
   * Fixed are `redirect_uris`, `grant_types`, `response_types`, `token_endpoint_auth_method`, and `dpop_bound_access_tokens` with `dpop`.
   *
   * @default none
   */
  readonly clientMetadata?: JsonObject | undefined;
  /** Gets a client for an authorization server if there is no other way, for example by asking the user. @default none */
  readonly askForClient?: ((issuer: string) => Promise<RegisteredClient | undefined>) | undefined;
}

const OPTIONS: OptionTable<OAuthOptions> = {
  ...AUTHORIZER_OPTIONS,
  signIn: 'object',
  clientName: 'string',
  clients: 'array',
  clientMetadataUrl: 'string',
  clientMetadataKey: 'any',
  clientMetadata: 'object',
  askForClient: 'function',
};

/** An authorizer whose sign-in can be finished in another request or process than it began in. */
export interface SignInAuthorizer extends OAuthAuthorizer {
  /**
   * Finishes a sign-in started with the same `store`: checks the authorization response and gets the tokens. Works once per sign-in.
   *
   * @param callbackUrl The URL that the user was redirected to, with its query. Make sure that it comes from the user who
   * began the sign-in: use one store per user session.
   * @throws {AuthError} `ERR_STATE_MISMATCH`, `ERR_RESPONSE_ISSUER`, `ERR_AUTHORIZATION_RESPONSE`, `ERR_SIGN_IN_DENIED`, `ERR_TOKEN_REQUEST`
   */
  finishSignIn(callbackUrl: string | URL, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Creates an authorizer that signs the user in when the server first requires it, and keeps the user signed in.
 *
 * It finds the authorization server, registers the client, signs in with PKCE, refreshes tokens and requests more scopes. Before it
 * uses a URL that a server names, it checks the URL.
 *
 * @param server The URL of the MCP server. Tokens are sent only to its origin.
 * @throws {TypeError} An option is invalid.
 * @see 2026-07-28 basic/authorization
 */
export function oauth(server: string | URL, options: OAuthOptions = {}): SignInAuthorizer {
  checkOptions('oauth', options, OPTIONS);
  const { clients = [], clientMetadata = {}, clientName = 'MCP client', clientMetadataUrl, signIn = nobody } = options;
  if (clientMetadataUrl !== undefined) checkClientMetadataUrl(clientMetadataUrl);
  const identity = { ...options, clients, clientMetadata, clientName };
  return new CodeAuthorizer(server, new AuthorizationCodeGrant(identity, signIn), options);
}

class CodeAuthorizer extends GrantAuthorizer implements SignInAuthorizer {
  readonly #code: AuthorizationCodeGrant;

  constructor(server: string | URL, grant: AuthorizationCodeGrant, options: OAuthOptions) {
    super(server, grant, options);
    this.#code = grant;
  }

  async finishSignIn(callbackUrl: string | URL, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (!URL.canParse(String(callbackUrl)))
      throw new AuthError('ERR_AUTHORIZATION_RESPONSE', 'finishSignIn needs the complete URL that the user was redirected to');
    const url = new URL(callbackUrl);
    const state = url.searchParams.get('state') ?? '';
    await this.renewAlone(`finish ${state}`, signal, async (shared) => {
      const pending = await this.vault.takePending(state, this.nowMs);
      if (!pending)
        throw new AuthError(
          'ERR_STATE_MISMATCH',
          'The authorization response belongs to no sign-in that was started with this store in the last 15 minutes',
        );
      await this.goOn(pending, shared, async (call) => await this.#code.finish(call, pending, url));
    });
  }
}

const nobody: SignIn = {
  begin: async () => {
    throw new AuthError(
      'ERR_SIGN_IN_REQUIRED',
      'The user has to sign in, but the option "signIn" is not set: use loopbackSignIn or redirectSignIn',
    );
  },
};
