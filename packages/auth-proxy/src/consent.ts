/** Asks the user for consent to one client, and remembers the consent in a cookie. The server does not store it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { ProxyClient } from './clients.ts';
import { renderConsentPage } from './consent-page.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { isLocalRedirect } from './registration.ts';
import { pageResponse, readCookie, writeCookie } from './http.ts';
import { digest, randomText } from './secrets.ts';

/** The cookie that binds a consent page to the browser that shows it. */
const CSRF_COOKIE = 'csrf';
/** The cookie that lists the consents given in this browser. */
const CONSENT_COOKIE = 'consent';
const PAGE_MS = 10 * 60_000;
const MAX_REMEMBERED = 20;

type Remembered = { readonly key: string; readonly expiresAtMs: number };

/** A submitted consent form: the authorization request, and the id of the page that was shown. */
export interface ConsentAnswer {
  readonly request: AuthorizationRequest;
  readonly pageId: string;
}

export class Consent {
  readonly #settings: ProxySettings;

  constructor(settings: ProxySettings) {
    this.#settings = settings;
  }

  /** Creates the consent page, which contains the encrypted authorization request. */
  async ask(httpRequest: Request, client: ProxyClient, request: AuthorizationRequest): Promise<Response> {
    const { name, upstream, basePath, sealer } = this.#settings;
    const csrf = readCsrf(httpRequest) ?? randomText();
    const page = { request: toRecord(request), pageId: randomText(), csrf: await digest(csrf) };
    const html = renderConsentPage({
      serverName: name,
      client,
      redirectUri: request.redirectUri,
      scopes: request.scopes,
      upstream,
      action: `${basePath}/consent`,
      request: await sealer.seal('consent page', page, PAGE_MS),
    });
    return pageResponse(200, html, [writeCookie(CSRF_COOKIE, csrf, PAGE_MS)]);
  }

  /** Reads a submitted consent form. @throws {OAuthRefusal} Another page or browser sent it, or it expired. */
  async readAnswer(httpRequest: Request, form: URLSearchParams): Promise<ConsentAnswer> {
    const { origin } = new URL(this.#settings.issuer);
    const sentFrom = httpRequest.headers.get('origin') ?? origin;
    const site = httpRequest.headers.get('sec-fetch-site') ?? 'same-origin';
    const csrf = readCsrf(httpRequest);
    const page = await this.#settings.sealer.open('consent page', form.get('request') ?? undefined);
    const isOurs = sentFrom === origin && site === 'same-origin' && csrf !== undefined && page?.['csrf'] === (await digest(csrf));
    if (isOurs) return page as unknown as ConsentAnswer;
    throw new OAuthRefusal('invalid_request', 'The form is from another page or browser, or the consent page has expired', { status: 403 });
  }

  /** Tells whether the user consented to the same client, redirect URI and scopes in this browser. */
  async isRemembered(httpRequest: Request, request: AuthorizationRequest): Promise<boolean> {
    if (isLocalRedirect(request.redirectUri)) return false;
    const key = await toKey(request);
    return (await this.#read(httpRequest)).some((consent) => consent.key === key);
  }

  /** Creates the cookie that remembers a consent. @returns None for programs on the user's machine, which need consent every time. */
  async remember(httpRequest: Request, request: AuthorizationRequest): Promise<readonly string[]> {
    if (isLocalRedirect(request.redirectUri)) return [];
    const { grantMs, clock, sealer } = this.#settings;
    const key = await toKey(request);
    const others = (await this.#read(httpRequest)).filter((consent) => consent.key !== key);
    const consents = [{ key, expiresAtMs: clock.now() + grantMs }, ...others].slice(0, MAX_REMEMBERED);
    return [writeCookie(CONSENT_COOKIE, await sealer.seal(this.#purpose, { consents }, grantMs), grantMs)];
  }

  async #read(httpRequest: Request): Promise<readonly Remembered[]> {
    const record = await this.#settings.sealer.open(this.#purpose, readCookie(httpRequest, CONSENT_COOKIE));
    const consents = (record?.['consents'] ?? []) as unknown as readonly Remembered[];
    return consents.filter(({ expiresAtMs }) => expiresAtMs > this.#settings.clock.now());
  }

  get #purpose(): string {
    return `consent at ${this.#settings.issuer}`;
  }
}

/** Converts an authorization request to plain JSON. */
export function toRecord({ clientId, redirectUri, scopes, state, codeChallenge }: AuthorizationRequest): JsonObject {
  return { clientId, redirectUri, scopes: [...scopes], codeChallenge, ...(state === undefined ? {} : { state }) };
}

function toKey({ clientId, redirectUri, scopes }: AuthorizationRequest): Promise<string> {
  return digest(JSON.stringify([clientId, redirectUri, scopes.toSorted()]));
}

function readCsrf(request: Request): string | undefined {
  const value = readCookie(request, CSRF_COOKIE);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}
