/** `createAuthorizer`: signs in with the user's browser, and reports each step. */

import type { CredentialStore } from '@mortise/protocol/contracts';
import type { FetchLike, SignInAuthorizer } from '@mortise/auth-oauth/client';
import { checkedFetch, loopbackSignIn, nodeOAuth } from '@mortise/auth-oauth/node';
import type { JsonValue } from '@mortise/jsonrpc-core';
import type { SignInStep } from '../messages.ts';

/** What a sign-in reports. */
export interface SignInEvents {
  /** Called for each step when it ends. */
  onStep(step: Omit<SignInStep, 'seq' | 'timeMs'>): void;
  /** Called with the page that the user has to open. */
  onSignInPage(url: string): void;
}

/** A longer document is not shown. */
const MAX_DOCUMENT = 65_536;

/** Makes an authorizer that asks the user to open the sign-in page, and reports what it fetches. No token is in a report. */
export function createAuthorizer(url: string, store: CredentialStore, events: SignInEvents): SignInAuthorizer {
  const open = (page: URL): void => {
    events.onStep({ title: 'Sign-in page, for you to open', method: 'GET', url: page.href });
    events.onSignInPage(page.href);
  };
  return nodeOAuth(url, {
    store,
    clientName: 'Mortise Inspector',
    signIn: loopbackSignIn({ open }),
    fetch: watchFetch(checkedFetch(url), events),
  });
}

function watchFetch(fetch: FetchLike, events: SignInEvents): FetchLike {
  return async (url, init) => {
    const step = { title: titleOf(url, init), method: init.method ?? 'GET', url };
    try {
      const response = await fetch(url, init);
      const isDiscovery = step.method === 'GET' && response.ok && url.includes('/.well-known/');
      const document = isDiscovery ? await readDocument(response.clone()) : undefined;
      events.onStep({ ...step, status: response.status, ...(document !== undefined && { document }) });
      return response;
    } catch (error) {
      events.onStep({ ...step, error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  };
}

function titleOf(url: string, { method = 'GET', body }: RequestInit): string {
  if (url.includes('/.well-known/oauth-protected-resource')) return 'Metadata of the protected server';
  if (url.includes('/.well-known/')) return 'Metadata of the authorization server';
  if (method === 'GET') return 'Document';
  const text = typeof body === 'string' ? body : '';
  if (text.startsWith('{')) return 'Registration of this client';
  const grant = new URLSearchParams(text).get('grant_type');
  if (grant === 'authorization_code') return 'The code is exchanged for a token';
  return grant === 'refresh_token' ? 'The token is refreshed' : 'Request to the authorization server';
}

async function readDocument(response: Response): Promise<JsonValue | undefined> {
  try {
    const text = await response.text();
    return text.length > MAX_DOCUMENT ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}
