/** What a browser's user has consented to, in a signed cookie: each entry is for one client, redirect and set of scopes. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { digest } from '../digest.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { CONSENT_COOKIE, readCookie, writeCookie } from './cookies.ts';
import type { ProxySettings } from './options.ts';
import { isLocalRedirect } from './redirect-uri.ts';
import { SignedText } from './signed-text.ts';

const MAX_ENTRIES = 20;

type Entry = { readonly key: string; readonly expiresAtMs: number };

export class ConsentMemory {
  readonly #settings: ProxySettings;
  readonly #signed: SignedText;

  constructor(settings: ProxySettings) {
    this.#settings = settings;
    this.#signed = new SignedText(settings.secret, `consent at ${settings.issuer}`, settings.clock);
  }

  /** Whether exactly this was consented to in this browser. */
  async holds(httpRequest: Request, request: AuthorizationRequest): Promise<boolean> {
    if (!this.#remembers(request)) return false;
    const key = await toKey(request);
    return (await this.#read(httpRequest)).some((entry) => entry.key === key);
  }

  /** @returns The cookie that remembers it; none for what is asked every time. */
  async remember(httpRequest: Request, request: AuthorizationRequest): Promise<readonly string[]> {
    if (!this.#remembers(request)) return [];
    const { rememberConsentMs, clock } = this.#settings;
    const key = await toKey(request);
    const others = (await this.#read(httpRequest)).filter((entry) => entry.key !== key);
    const entries = [{ key, expiresAtMs: clock.now() + rememberConsentMs }, ...others].slice(0, MAX_ENTRIES);
    return [writeCookie(CONSENT_COOKIE, await this.#signed.write({ entries }, rememberConsentMs), rememberConsentMs)];
  }

  #remembers({ redirectUri }: AuthorizationRequest): boolean {
    return this.#settings.rememberConsentMs > 0 && !isLocalRedirect(redirectUri);
  }

  async #read(httpRequest: Request): Promise<readonly Entry[]> {
    const record: JsonObject | undefined = await this.#signed.read(readCookie(httpRequest, CONSENT_COOKIE));
    const entries = (record?.['entries'] ?? []) as unknown as readonly Entry[];
    return entries.filter((entry) => entry.expiresAtMs > this.#settings.clock.now());
  }
}

function toKey({ clientId, redirectUri, scopes }: AuthorizationRequest): Promise<string> {
  return digest(JSON.stringify([clientId, redirectUri, scopes.toSorted()]));
}
