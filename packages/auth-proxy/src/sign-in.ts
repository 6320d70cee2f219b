/**
 * The part of the proxy that the user's browser visits: consent page, redirect to the provider, and redirect back to the client.
 *
 * The provider knows only the proxy, and remembers the user's consent to it for all clients. Therefore the proxy asks for consent to each
 * client before it redirects the browser to the provider.
 *
 * @see 2026-07-28 security_best_practices#confused-deputy-problem
 */

import { AuthorizationResponseError } from 'oauth4webapi';
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts';
import type { ClientTable, ProxyClient } from './clients.ts';
import { Consent, toRecord } from './consent.ts';
import { OAuthRefusal } from './errors.ts';
import type { GrantTable } from './grants.ts';
import type { ProxySettings } from './options.ts';
import { isRegisteredRedirect } from './registration.ts';
import { readCookie, redirectResponse, writeCookie } from './http.ts';
import { digest, randomText } from './secrets.ts';
import type { Upstream, UpstreamFlow, UpstreamTokens } from './upstream.ts';

/** The objects that the parts of the proxy share. */
export interface ProxyParts {
  readonly settings: ProxySettings;
  readonly clients: ClientTable;
  readonly upstream: Upstream;
  readonly grants: GrantTable;
}

const FLOW_MS = 10 * 60_000;

export class SignIn {
  readonly #parts: ProxyParts;
  readonly #consent: Consent;

  constructor(parts: ProxyParts) {
    this.#parts = parts;
    this.#consent = new Consent(parts.settings);
  }

  /** `GET /authorize`: shows the consent page, or redirects to the provider if the browser remembers the consent. */
  async authorize(httpRequest: Request): Promise<Response> {
    const { settings, clients } = this.#parts;
    const { client, request } = await readAuthorizationRequest(new URL(httpRequest.url).searchParams, clients, settings);
    if (await this.#consent.isRemembered(httpRequest, request)) return await this.#forward(client, request, []);
    return await this.#consent.ask(httpRequest, client, request);
  }

  /** `POST /consent`: handles the user's decision. */
  async decide(httpRequest: Request, form: URLSearchParams): Promise<Response> {
    const request = await this.#consent.readAnswer(httpRequest, form);
    const client = await this.#parts.clients.find(request.clientId);
    if (client === undefined || !isRegisteredRedirect(request.redirectUri, client.redirectUris))
      throw new OAuthRefusal('invalid_client', 'The client is no longer registered');
    if (form.get('decision') !== 'allow') throw new OAuthRefusal('access_denied', 'The user denied the request', { redirect: request });
    return await this.#forward(client, request, await this.#consent.remember(httpRequest, request));
  }

  /** `GET /callback`: handles the redirect back from the provider. */
  async finish(httpRequest: Request): Promise<Response> {
    const { grants, clients } = this.#parts;
    const answer = new URL(httpRequest.url).searchParams;
    const { request, flow, cookie } = await this.#takeFlow(httpRequest, answer.get('state') ?? '');
    const tokens = await this.#exchange(answer, flow, request);
    const subject = await this.#identify(tokens, request);
    const client = await clients.find(request.clientId);
    if (client !== undefined) await clients.keep(client);
    const code = await grants.create(request, subject, tokens);
    return redirectResponse(this.toClient(request, { code }), [writeCookie(cookie, '', 0)]);
  }

  /** Creates a redirect URL to the client, with `iss`, so that clients can tell which server responded. @see RFC 9207 */
  toClient({ redirectUri, state }: NonNullable<OAuthRefusal['redirect']>, params: Readonly<Record<string, string>>): string {
    const url = new URL(redirectUri);
    const all = { ...params, ...(state === undefined ? {} : { state }), iss: this.#parts.settings.issuer };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Redirects to the provider, after consent. Creates the `state`, and a cookie that binds the `state` to this browser. */
  async #forward(client: ProxyClient, request: AuthorizationRequest, cookies: readonly string[]): Promise<Response> {
    const { settings, clients, upstream } = this.#parts;
    const flow: UpstreamFlow = { state: randomText(), codeVerifier: randomText(), nonce: randomText() };
    const browser = randomText();
    const key = await digest(flow.state);
    const record = { request: toRecord(request), codeVerifier: flow.codeVerifier, nonce: flow.nonce, browser: await digest(browser) };
    await clients.keep(client);
    await settings.store.put(`state:${key}`, record, settings.clock.now() + FLOW_MS);
    return redirectResponse(await upstream.authorizationUrl(flow), [...cookies, writeCookie(toFlowCookie(key), browser, FLOW_MS)]);
  }

  /** Takes a pending sign-in from the store. Checks the browser's cookie first: a request from another browser must not end the sign-in. */
  async #takeFlow(
    httpRequest: Request,
    state: string,
  ): Promise<{ readonly request: AuthorizationRequest; readonly flow: UpstreamFlow; readonly cookie: string }> {
    const { store } = this.#parts.settings;
    const key = await digest(state);
    const cookie = toFlowCookie(key);
    const browser = await digest(readCookie(httpRequest, cookie) ?? '');
    const isOurs = (await store.get(`state:${key}`))?.['browser'] === browser;
    const record = isOurs ? await store.take(`state:${key}`) : undefined;
    if (record === undefined)
      throw new OAuthRefusal('invalid_request', 'The response of the provider belongs to no sign-in in progress in this browser');
    const { request, codeVerifier, nonce } = record as unknown as UpstreamFlow & { readonly request: AuthorizationRequest };
    return { request, flow: { state, codeVerifier, nonce }, cookie };
  }

  async #exchange(answer: URLSearchParams, flow: UpstreamFlow, request: AuthorizationRequest): Promise<UpstreamTokens> {
    try {
      return await this.#parts.upstream.exchange(answer, flow);
    } catch (cause) {
      const isDenied = cause instanceof AuthorizationResponseError && cause.error === 'access_denied';
      if (isDenied) throw new OAuthRefusal('access_denied', 'The sign-in was denied at the provider', { redirect: request });
      this.#parts.settings.logger.log('warning', 'A sign-in at the provider failed', { error: String(cause) });
      throw new OAuthRefusal('server_error', 'The sign-in at the provider failed', { redirect: request, cause });
    }
  }

  async #identify({ accessToken, idTokenClaims }: UpstreamTokens, request: AuthorizationRequest): Promise<string> {
    const { identify, logger } = this.#parts.settings;
    try {
      const subject: unknown = identify === undefined ? idTokenClaims?.['sub'] : await identify({ accessToken, idTokenClaims });
      if (typeof subject === 'string' && subject !== '') return subject;
      logger.log('error', 'The user is unknown: "identify" must resolve to a non-empty string');
    } catch (error) {
      logger.log('warning', '"identify" failed', { error: String(error) });
    }
    throw new OAuthRefusal('server_error', 'The server could not identify the user', { redirect: request });
  }
}

/** Gives the cookie name of one sign-in in progress. A browser may have several at a time. */
function toFlowCookie(stateDigest: string): string {
  return `flow-${stateDigest.slice(0, 16)}`;
}
