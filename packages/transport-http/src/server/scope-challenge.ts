/** From an endpoint's refusal for lack of scope to HTTP's: status 403, and a challenge that names what to ask for. @see RFC 6750 section 3.1 */

import type { JsonRpcResponse } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ScopeChallenger } from '@mortise/protocol/contracts';
import type { Caller } from './hosted-call.ts';
import type { HeaderList } from './http-request.ts';
import type { Settings } from './options.ts';
import { metadataUrlOf } from './well-known.ts';

/** What a refusal for lack of scope is answered with. */
export const FORBIDDEN = 403;

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** @returns The challenge that goes with an answer; undefined for an answer that lacks no scope. */
export function scopeChallenge(response: JsonRpcResponse, { request, auth }: Caller, settings: Settings): HeaderList | undefined {
  const scopes = readRequiredScopes(response);
  if (scopes === undefined || auth === undefined) return undefined;
  const scheme = /^dpop /i.test(request.header('authorization') ?? '') ? 'DPoP' : 'Bearer';
  const { tokenVerifier } = settings;
  if (isScopeChallenger(tokenVerifier)) return ['WWW-Authenticate', tokenVerifier.challengeScopes(auth, scopes, { scheme })];
  const metadataUrl = metadataUrlOf(request, settings);
  const where = metadataUrl === undefined ? '' : `, resource_metadata="${metadataUrl}"`;
  return ['WWW-Authenticate', `${scheme} error="insufficient_scope", scope="${scopes.join(' ')}"${where}`];
}

function isScopeChallenger(verifier: object | undefined): verifier is ScopeChallenger {
  return verifier !== undefined && 'challengeScopes' in verifier;
}

function readRequiredScopes(response: JsonRpcResponse): readonly string[] | undefined {
  if (!('error' in response) || response.error.code !== FORBIDDEN) return undefined;
  const { data } = response.error;
  const scopes = isJsonObject(data) ? data['requiredScopes'] : undefined;
  if (!Array.isArray(scopes) || scopes.length === 0) return undefined;
  const texts = scopes.filter((scope) => typeof scope === 'string');
  return texts.length === scopes.length && texts.every((scope) => SCOPE.test(scope)) ? texts : undefined;
}
