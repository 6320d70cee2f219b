/**
 * The part of the proxy that a person's browser visits: consent, the provider, and back to the client.
 *
 * The provider remembers that the person has consented to this server as its client, whoever asks through us; so each of our clients needs
 * a consent of its own before the browser is sent there.
 *
 * @see 2026-07-28 security_best_practices#confused-deputy-problem
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { digest, isSameText, randomText } from '../digest.ts';
import { type AuthorizationRequest, readAuthorizationRequest, RedirectRefusal } from './authorization-request.ts';
import { renderConsentPage } from './consent-page.ts';
import { ConsentMemory } from './consent-memory.ts';
import { CSRF_COOKIE, flowCookie, readCookie, writeCookie } from './cookies.ts';
import type { GrantTable } from './grants.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import type { ProxySettings, SignedIn } from './options.ts';
import type { ClientTable, ProxyClient } from './proxy-client.ts';
import { isRegisteredRedirect } from './redirect-uri.ts';
import { pageResponse, redirectResponse } from './responses.ts';
import { SignedText } from './signed-text.ts';
import { AuthorizationResponseError, type Upstream, type UpstreamFlow, type UpstreamTokens } from './upstream.ts';

/** What the parts of the proxy share. */
export interface ProxyParts {
  readonly settings: ProxySettings;
  readonly clients: ClientTable;
  readonly upstream: Upstream;
  readonly grants: GrantTable;
}

const PAGE_MS = 10 * 60_000;
const FLOW_MS = 10 * 60_000;

export class SignIn {
  readonly #parts: ProxyParts;
  readonly #signed: SignedText;
  readonly #memory: ConsentMemory;

  constructor(parts: ProxyParts) {
    const { settings } = parts;
    this.#parts = parts;
    this.#signed = new SignedText(settings.secret, 'consent request', settings.clock);
    this.#memory = new ConsentMemory(settings);
  }

  /** `GET /authorize`: shows the consent page, or goes on where the same was consented to before. */
  async authorize(httpRequest: Request): Promise<Response> {
    const { settings, clients } = this.#parts;
    const { client, request } = await readAuthorizationRequest(new URL(httpRequest.url).searchParams, clients, settings);
    if (await this.#memory.holds(httpRequest, request)) return this.#forward(client, request, []);
    const csrf = readCsrf(httpRequest) ?? randomText();
    const signed = await this.#signed.write({ request: toRecord(request), csrf: await digest(csrf) }, PAGE_MS);
    const html = renderConsentPage({
      serverName: settings.name,
      clientName: client.name,
      clientId: client.clientId,
      documentHost: client.documentHost,
      redirectUri: request.redirectUri,
      scopes: request.scopes,
      upstreamName: settings.upstream.name,
      upstreamScopes: settings.upstream.scopes,
      action: `${settings.basePath}/consent`,
      request: signed,
    });
    return pageResponse(200, html, [writeCookie(CSRF_COOKIE, csrf, PAGE_MS)]);
  }

  /** `POST /consent`: what the person decided, in the browser that was asked. */
  async decide(httpRequest: Request, form: URLSearchParams): Promise<Response> {
    const request = await this.#readDecision(httpRequest, form);
    const client = await this.#parts.clients.find(request.clientId);
    if (client === undefined || !isRegisteredRedirect(request.redirectUri, client.redirectUris))
      throw new OAuthRefusal('invalid_client', 'The program that asked is no longer known here');
    if (form.get('decision') !== 'allow') throw new RedirectRefusal('access_denied', 'The user did not allow it', request);
    return this.#forward(client, request, await this.#memory.remember(httpRequest, request));
  }

  /** `GET /callback`: the provider's answer, in the browser that was sent there. */
  async finish(httpRequest: Request): Promise<Response> {
    const answer = new URL(httpRequest.url).searchParams;
    const { request, flow, cookie } = await this.#readFlow(httpRequest, answer);
    const cookies = [writeCookie(cookie, '', 0)];
    const { grants, clients } = this.#parts;
    const tokens = await this.#exchange(answer, flow, request);
    const { subject } = await this.#identify(tokens, request);
    const client = await clients.find(request.clientId);
    if (client !== undefined) await clients.keep(client);
    return redirectResponse(this.toClient(request, { code: await grants.create(request, subject, tokens) }), cookies);
  }

  /** The redirect that tells a client. Always names the issuer, so that it cannot be taken for another's. @see RFC 9207 */
  toClient({ redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>, params: Readonly<Record<string, string>>): string {
    const url = new URL(redirectUri);
    const all = { ...params, ...(state === undefined ? {} : { state }), iss: this.#parts.settings.issuer };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Only now, after consent, is there a state, and a cookie that ties it to this browser. */
  async #forward(client: ProxyClient, request: AuthorizationRequest, cookies: readonly string[]): Promise<Response> {
    const { settings, clients, upstream } = this.#parts;
    const flow: UpstreamFlow = { state: randomText(), codeVerifier: randomText(), nonce: randomText() };
    const browser = randomText();
    const key = await digest(flow.state);
    const record = { request: toRecord(request), codeVerifier: flow.codeVerifier, nonce: flow.nonce, browser: await digest(browser) };
    await clients.keep(client);
    await settings.store.put(`state:${key}`, record, settings.clock.now() + FLOW_MS);
    return redirectResponse(await upstream.authorizationUrl(flow), [...cookies, writeCookie(flowCookie(key), browser, FLOW_MS)]);
  }

  async #readDecision(httpRequest: Request, form: URLSearchParams): Promise<AuthorizationRequest> {
    const { origin } = new URL(this.#parts.settings.issuer);
    const sentFrom = httpRequest.headers.get('origin') ?? origin;
    const site = httpRequest.headers.get('sec-fetch-site') ?? 'same-origin';
    const csrf = readCsrf(httpRequest);
    const record = await this.#signed.read(form.get('request') ?? undefined);
    const isOurs = sentFrom === origin && site === 'same-origin' && csrf !== undefined && record !== undefined;
    if (!isOurs || !isSameText(String(record['csrf']), await digest(csrf)))
      throw new OAuthRefusal('invalid_request', 'The answer does not come from the page that asked, or comes too late', 403);
    return record['request'] as unknown as AuthorizationRequest;
  }

  async #readFlow(
    httpRequest: Request,
    answer: URLSearchParams,
  ): Promise<{ readonly request: AuthorizationRequest; readonly flow: UpstreamFlow; readonly cookie: string }> {
    const { store } = this.#parts.settings;
    const state = answer.get('state') ?? '';
    const key = await digest(state);
    const cookie = flowCookie(key);
    const known = await store.get(`state:${key}`);
    const browser = await digest(readCookie(httpRequest, cookie) ?? '');
    // Looked at before it is used up, so that a stranger's visit does not end somebody's sign-in.
    const isOurs = known !== undefined && isSameText(String(known['browser']), browser);
    const record = isOurs ? await store.take(`state:${key}`) : undefined;
    if (record === undefined) throw new OAuthRefusal('invalid_request', 'This browser has no sign-in under way that the answer belongs to');
    const { request, codeVerifier, nonce } = record as unknown as UpstreamFlow & { readonly request: AuthorizationRequest };
    return { request, flow: { state, codeVerifier, nonce }, cookie };
  }

  async #exchange(answer: URLSearchParams, flow: UpstreamFlow, request: AuthorizationRequest): Promise<UpstreamTokens> {
    try {
      return await this.#parts.upstream.exchange(answer, flow);
    } catch (error) {
      const isDenied = error instanceof AuthorizationResponseError && error.error === 'access_denied';
      if (isDenied) throw new RedirectRefusal('access_denied', 'The provider was not allowed to sign the user in', request);
      this.#parts.settings.logger.log('warning', 'A sign-in at the provider failed', { error: String(error) });
      throw new RedirectRefusal('server_error', 'The sign-in at the provider failed', request);
    }
  }

  async #identify({ accessToken, idTokenClaims }: UpstreamTokens, request: AuthorizationRequest): Promise<SignedIn> {
    const { identify, logger } = this.#parts.settings;
    try {
      const signedIn = identify === undefined ? { subject: idTokenClaims?.['sub'] } : await identify({ accessToken, idTokenClaims });
      if (typeof signedIn.subject === 'string' && signedIn.subject !== '') return { subject: signedIn.subject };
      logger.log('error', 'Nobody could tell who signed in: "identify" gave no subject');
    } catch (error) {
      logger.log('warning', 'Finding out who signed in failed', { error: String(error) });
    }
    throw new RedirectRefusal('server_error', 'It could not be found out who signed in', request);
  }
}

function readCsrf(request: Request): string | undefined {
  const value = readCookie(request, CSRF_COOKIE);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

function toRecord({ clientId, redirectUri, scopes, state, codeChallenge }: AuthorizationRequest): JsonObject {
  return { clientId, redirectUri, scopes: [...scopes], codeChallenge, ...(state === undefined ? {} : { state }) };
}
