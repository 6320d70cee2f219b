/** Signing in as a person: the authorization code flow as an `Authorizer`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { AuthError } from '../errors.ts';
import { AuthorizationCodeGrant } from './authorization-code.ts';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions, type OAuthAuthorizer } from './authorizer-options.ts';
import type { ClientKey, RegisteredClient } from './credentials.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';
import { checkClientMetadataUrl } from './register.ts';
import type { SignIn } from './sign-in.ts';

/** How a person signs in. */
export interface OAuthOptions extends AuthorizerOptions {
  /** How a person is asked: `loopbackSignIn` of `/node`, `redirectSignIn`, or your own. @default nobody is; refresh goes on, a sign-in rejects */
  readonly signIn?: SignIn | undefined;
  /** Shown to the person by authorization servers that register the client. @default MCP client */
  readonly clientName?: string | undefined;
  /** Clients registered by hand, each used at its own issuer alone. With these, none is registered dynamically. @default none */
  readonly clients?: readonly RegisteredClient[] | undefined;
  /** The https URL of the client's published metadata, its id at servers that accept such ids. See `clientMetadataDocument`. @default none */
  readonly clientMetadataUrl?: string | undefined;
  /** Signs for that document at token endpoints: the document publishes its public half and `private_key_jwt`. @default none */
  readonly clientMetadataKey?: ClientKey | undefined;
  /** More members for dynamic registration, as `client_uri`. @default none */
  readonly clientMetadata?: JsonObject | undefined;
  /** Asked last, for an issuer that no other way leads to: the program may ask its user. @default nobody */
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

/** An authorizer whose sign-in may end in another request, or another process, than it began in. */
export interface SignInAuthorizer extends OAuthAuthorizer {
  /**
   * Takes the answer to a sign-in that was begun with this store: checks it and gets the tokens. Each answer is taken once.
   *
   * @param callbackUrl Where the person came back to, with its query. The program must know that it is the same person: bind the
   * store to their session.
   * @throws {AuthError} `ERR_STATE_MISMATCH`, `ERR_RESPONSE_ISSUER`, `ERR_AUTHORIZATION_RESPONSE`, `ERR_SIGN_IN_DENIED`, `ERR_TOKEN_REQUEST`
   */
  finishSignIn(callbackUrl: string | URL, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Makes an authorizer that signs a person in when the server first asks for it, and keeps them signed in.
 *
 * Finds the authorization server, registers, signs in with PKCE, refreshes, steps up; every URL from a peer is judged first.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {TypeError} An option is wrong.
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
      throw new AuthError('ERR_AUTHORIZATION_RESPONSE', 'finishSignIn needs the whole URL that the person came back to');
    const url = new URL(callbackUrl);
    const state = url.searchParams.get('state') ?? '';
    await this.renewAlone(`finish ${state}`, signal, async (shared) => {
      const pending = await this.vault.takePending(state, this.nowMs);
      if (!pending)
        throw new AuthError(
          'ERR_STATE_MISMATCH',
          'The authorization response answers no sign-in that was begun here in the last 15 minutes',
        );
      await this.goOn(pending, shared, async (call) => await this.#code.finish(call, pending, url));
    });
  }
}

const nobody: SignIn = {
  begin: async () => {
    throw new AuthError(
      'ERR_SIGN_IN_REQUIRED',
      'Somebody has to sign in, and there is no way to ask: give "signIn", with loopbackSignIn or redirectSignIn',
    );
  },
};
