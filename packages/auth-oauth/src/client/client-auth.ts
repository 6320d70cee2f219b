/** Proves to a token endpoint which client is asking. */

import type { CryptoKey } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthOptionError, ClientMismatchError } from '../errors.ts';
import { nameUrl } from '../safe-fetch.ts';
import { listNames } from './to-safe-text.ts';
import type { ClientAuthMethod, RegisteredClient } from './credentials.ts';

/**
 * Chooses how a client authenticates: as it was registered, else what the authorization server takes first of what the client can do.
 *
 * @throws {AuthOptionError} The two have nothing in common.
 */
export function chooseAuthMethod(client: RegisteredClient, as: oauth.AuthorizationServer): ClientAuthMethod {
  const { clientSecret, privateKey, authMethod } = client;
  const able: ClientAuthMethod[] = privateKey ? ['private_key_jwt'] : [];
  if (clientSecret !== undefined) able.push('client_secret_basic', 'client_secret_post');
  if (able.length === 0) able.push('none');
  if (authMethod !== undefined) {
    if (able.includes(authMethod) || authMethod === 'none') return authMethod;
    throw new AuthOptionError(`The client "${client.clientId}" lacks what the method "${authMethod}" needs: give its secret or its key`);
  }
  const [first = 'none'] = able;
  // A server that says nothing takes Basic (RFC 8414 section 2); a public client is one whatever the list says.
  const taken = as.token_endpoint_auth_methods_supported;
  if (!Array.isArray(taken) || first === 'none') return first;
  const method = able.find((candidate) => taken.includes(candidate));
  if (method !== undefined) return method;
  throw new AuthOptionError(
    `The authorization server takes the methods "${listNames(taken)}", and the client "${client.clientId}" can only do "${able.join(', ')}"`,
  );
}

/**
 * @throws {AuthOptionError} The authorization server takes no signature of the key's algorithm.
 * @see RFC 7523 section 2.2
 */
export function toClientAuth(client: RegisteredClient, as: oauth.AuthorizationServer): oauth.ClientAuth {
  const method = chooseAuthMethod(client, as);
  if (method === 'client_secret_basic') return basic(client.clientId, client.clientSecret ?? '');
  if (method === 'client_secret_post') return oauth.ClientSecretPost(client.clientSecret ?? '');
  if (method !== 'private_key_jwt' || !client.privateKey) return oauth.None();
  return signedAssertion(client.privateKey.key, client.privateKey.keyId, as);
}

/**
 * By the form encoding of browsers, which leaves `-`, `.`, `_` and `*` as they are: the library's own writes them as `%2D` and so on,
 * and servers that do not decode then know no such client.
 *
 * @see RFC 6749 section 2.3.1
 */
function basic(clientId: string, secret: string): oauth.ClientAuth {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
  const bytes = new TextEncoder().encode(`${encode(clientId)}:${encode(secret)}`);
  return (_as, _client, _body, headers) => headers.set('authorization', `Basic ${btoa(String.fromCharCode(...bytes))}`);
}

/** The assertion names the client, so that the body does not. */
function signedAssertion(key: CryptoKey, keyId: string | undefined, as: oauth.AuthorizationServer): oauth.ClientAuth {
  const sign = oauth.PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
    [oauth.modifyAssertion]: ({ alg }) => {
      const taken = as.token_endpoint_auth_signing_alg_values_supported;
      if (!Array.isArray(taken) || taken.includes(String(alg))) return;
      throw new AuthOptionError(`The authorization server takes no assertion signed with ${String(alg)}, but ${listNames(taken)}`);
    },
  });
  return async (server, client, body, headers) => {
    await sign(server, client, body, headers);
    body.delete('client_id');
  };
}

/** @throws {ClientMismatchError} The client belongs to another authorization server: its credentials are not shown to this one. */
export function checkIssuer(client: RegisteredClient, as: oauth.AuthorizationServer): RegisteredClient {
  if (client.issuer === as.issuer) return client;
  throw new ClientMismatchError(
    `The server is protected by ${nameUrl(as.issuer)}, and the client "${client.clientId}" was registered with ${nameUrl(client.issuer)}: its credentials were not sent`,
  );
}
