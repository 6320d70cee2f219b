/** Client authentication at the token endpoint. */

import type { CryptoKey } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { listNames } from '../safe-fetch.ts';
import type { ClientAuthMethod, RegisteredClient } from './credentials.ts';

/**
 * Chooses how a client authenticates: by its `authMethod`, or else by the first method that the authorization server accepts.
 *
 * @throws {AuthError} `ERR_CLIENT_MISMATCH`: the authorization server accepts no method of the client, or a secret or key is missing.
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
      `The client "${client.clientId}" authenticates by "${authMethod}" and needs a secret or a key: give "clientSecret" or "privateKey"`,
    );
  }
  const [first = 'none'] = able;
  // Without the list, Basic is the default (RFC 8414 section 2). A public client has no other method than "none".
  const accepted = as.token_endpoint_auth_methods_supported;
  if (!Array.isArray(accepted) || first === 'none') return first;
  const method = able.find((candidate) => accepted.includes(candidate));
  if (method !== undefined) return method;
  throw new AuthError(
    'ERR_CLIENT_MISMATCH',
    `The authorization server accepts the authentication methods "${listNames(accepted)}", but the client "${client.clientId}" supports only "${able.join(', ')}"`,
  );
}

/**
 * HTTP Basic authentication that encodes id and secret as browsers encode forms, which keeps `-`, `.`, `_` and `*`. `oauth4webapi`
 * encodes these as `%2D` and so on, and some servers do not decode them.
 *
 * @see RFC 6749 section 2.3.1
 */
function basic(clientId: string, secret: string): oauth.ClientAuth {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
  return (_as, _client, _body, headers) => headers.set('authorization', `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`);
}

/** Client authentication with a signed JWT (`private_key_jwt`). The JWT names the client, so `client_id` is removed from the body. */
function signedAssertion(key: CryptoKey, keyId: string | undefined, as: oauth.AuthorizationServer): oauth.ClientAuth {
  const sign = oauth.PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
    [oauth.modifyAssertion]: ({ alg }) => {
      const accepted = as.token_endpoint_auth_signing_alg_values_supported;
      if (!Array.isArray(accepted) || accepted.includes(String(alg))) return;
      throw new AuthError(
        'ERR_CLIENT_MISMATCH',
        `The authorization server accepts assertions signed with ${listNames(accepted)}, but the client's key signs with ${String(alg)}`,
      );
    },
  });
  return async (server, client, body, headers) => {
    await sign(server, client, body, headers);
    body.delete('client_id');
  };
}
