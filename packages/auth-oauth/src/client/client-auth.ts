/** Proves to a token endpoint which client is asking. */

import type { CryptoKey } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { listNames } from '../safe-fetch.ts';
import type { ClientAuthMethod, RegisteredClient } from './credentials.ts';

/**
 * How a client authenticates: as it was registered, else by the first method that it can use and the authorization server accepts.
 *
 * @throws {AuthError} `ERR_CLIENT_MISMATCH`: the two have nothing in common.
 * @see RFC 6749 section 2.3; RFC 7523 section 2.2
 */
export function toClientAuth(client: RegisteredClient, as: oauth.AuthorizationServer): oauth.ClientAuth {
  const method = chooseAuthMethod(client, as);
  if (method === 'client_secret_basic') return basic(client.clientId, client.clientSecret ?? '');
  if (method === 'client_secret_post') return oauth.ClientSecretPost(client.clientSecret ?? '');
  if (method !== 'private_key_jwt' || !client.privateKey) return oauth.None();
  return signedAssertion(client.privateKey.key, client.privateKey.keyId, as);
}

function chooseAuthMethod(client: RegisteredClient, as: oauth.AuthorizationServer): ClientAuthMethod {
  const { clientSecret, privateKey, authMethod } = client;
  const able: ClientAuthMethod[] = privateKey ? ['private_key_jwt'] : [];
  if (clientSecret !== undefined) able.push('client_secret_basic', 'client_secret_post');
  if (able.length === 0) able.push('none');
  if (authMethod !== undefined) {
    if (able.includes(authMethod) || authMethod === 'none') return authMethod;
    throw new AuthError(
      'ERR_CLIENT_MISMATCH',
      `The client "${client.clientId}" lacks what the method "${authMethod}" needs: give its secret or its key`,
    );
  }
  const [first = 'none'] = able;
  // A server that says nothing accepts Basic (RFC 8414 section 2); a public client is one whatever the list says.
  const accepted = as.token_endpoint_auth_methods_supported;
  if (!Array.isArray(accepted) || first === 'none') return first;
  const method = able.find((candidate) => accepted.includes(candidate));
  if (method !== undefined) return method;
  throw new AuthError(
    'ERR_CLIENT_MISMATCH',
    `The authorization server accepts the methods "${listNames(accepted)}", and the client "${client.clientId}" can only do "${able.join(', ')}"`,
  );
}

/**
 * By the form encoding of browsers, which leaves `-`, `.`, `_` and `*` as they are: the library's own writes them as `%2D` and so on,
 * and servers that do not decode then know no such client.
 *
 * @see RFC 6749 section 2.3.1
 */
function basic(clientId: string, secret: string): oauth.ClientAuth {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
  return (_as, _client, _body, headers) => headers.set('authorization', `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`);
}

/** The assertion names the client, so that the body does not. */
function signedAssertion(key: CryptoKey, keyId: string | undefined, as: oauth.AuthorizationServer): oauth.ClientAuth {
  const sign = oauth.PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
    [oauth.modifyAssertion]: ({ alg }) => {
      const accepted = as.token_endpoint_auth_signing_alg_values_supported;
      if (!Array.isArray(accepted) || accepted.includes(String(alg))) return;
      throw new AuthError(
        'ERR_CLIENT_MISMATCH',
        `The authorization server accepts no assertion signed with ${String(alg)}, but ${listNames(accepted)}`,
      );
    },
  });
  return async (server, client, body, headers) => {
    await sign(server, client, body, headers);
    body.delete('client_id');
  };
}
