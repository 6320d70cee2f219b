/** A way to come by tokens: what differs between one flow and another. */

import type { AuthorizationServer } from 'oauth4webapi';
import type { SafeFetch } from '../safe-fetch.ts';
import type { CredentialVault } from './credential-vault.ts';
import type { RegisteredClient, TokenSet } from './credentials.ts';
import type { DpopKey } from './dpop.ts';

/** What a flow works with. */
export interface GrantCall {
  readonly as: AuthorizationServer;
  /** Exactly as the server spells it: sent with every request. */
  readonly resource: string;
  readonly vault: CredentialVault;
  readonly fetchPeer: SafeFetch;
  /** Judges a URL before a person is sent there. @throws {UnsafeUrlError} */
  readonly assertSafe: (url: URL, what: string) => void;
  readonly dpop: DpopKey | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal | undefined;
}

/** One flow. */
export interface Grant {
  /** Whether new tokens can be had without a person. */
  readonly isSilent: boolean;
  /** Whether a refresh token is wanted, and `offline_access` with it. */
  readonly wantsRefresh: boolean;
  /** Issuers that the flow has credentials for; empty for any. */
  readonly issuers: readonly string[];
  /** Whether tokens of this client may be used: a store can be shared with another flow. */
  isOurs(issuer: string, clientId: string): boolean;
  /** @param scopes What to ask for; empty for whatever the server gives. */
  obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet>;
  /** The client that a token set belongs to. */
  findClient(call: GrantCall, clientId: string): Promise<RegisteredClient | undefined>;
  /** Forgets a client that the authorization server does not know any more. @returns Whether another can be had. */
  forgetClient(call: GrantCall): Promise<boolean>;
}
