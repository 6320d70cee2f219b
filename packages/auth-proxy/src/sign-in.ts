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
import type { ClientTable } from './clients.ts';
import { Consent, type ConsentAnswer, toRecord } from './consent.ts';
import { OAuthRefusal } from './errors.ts';
import type { GrantTable } from './grants.ts';
import type { ProxySettings } from './options.ts';
import { isRegisteredRedirect } from './registration.ts';
import { listCookies, readCookie, redirectResponse, writeCookie } from './http.ts';
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
/** How long a finished sign-in is remembered: as long as its consent page and the flow that began with it can last. */
const FINISHED_MS = 2 * FLOW_MS;
/** Browsers drop a longer cookie. */
const MAX_COOKIE_LENGTH = 4_096;
/** The maximum length of the cookies of all sign-ins in progress in a browser, because servers limit the headers of a request. */
const MAX_FLOWS_LENGTH = 8_192;

/** A sign-in in progress. Only the browser keeps it, in an encrypted cookie, so that nobody can fill the store without signing in. */
interface Flow extends UpstreamFlow {
  readonly request: AuthorizationRequest;
  /** The id of the consent page, which is good for one sign-in. */
  readonly pageId: string;
}

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
    if (await this.#consent.isRemembered(httpRequest, request)) return await this.#forward(httpRequest, { request, pageId: randomText() });
    return await this.#consent.ask(httpRequest, client, request);
  }

  /** `POST /consent`: handles the user's decision. */
  async decide(httpRequest: Request, form: URLSearchParams): Promise<Response> {
    const answer = await this.#consent.readAnswer(httpRequest, form);
    const { request } = answer;
    const client = await this.#parts.clients.find(request.clientId);
    if (client === undefined || !isRegisteredRedirect(request.redirectUri, client.redirectUris))
      throw new OAuthRefusal('invalid_client', 'The client is no longer registered');
    if (form.get('decision') !== 'allow') throw new OAuthRefusal('access_denied', 'The user denied the request', { redirect: request });
    return await this.#forward(httpRequest, answer, await this.#consent.remember(httpRequest, request));
  }

  /** `GET /callback`: handles the redirect back from the provider. */
  async finish(httpRequest: Request): Promise<Response> {
    const { grants, clients, settings } = this.#parts;
    const answer = new URL(httpRequest.url).searchParams;
    const { request, pageId, ...flow } = await this.#readFlow(httpRequest, answer.get('state') ?? '');
    const finished = `finished:${pageId}`;
    if ((await settings.store.get(finished)) !== undefined)
      throw new OAuthRefusal('invalid_request', 'This consent was used for a sign-in before: begin the sign-in again');
    const tokens = await this.#exchange(answer, flow, request);
    await settings.store.put(finished, {}, settings.clock.now() + FINISHED_MS);
    const subject = await this.#identify(tokens, request);
    const client = await clients.find(request.clientId);
    if (client === undefined) throw new OAuthRefusal('invalid_client', 'The client is no longer registered');
    await clients.keep(client);
    const code = await grants.create(request, subject, tokens);
    return redirectResponse(this.toClient(request, { code }), [writeCookie(await toFlowCookie(flow.state), '', 0)]);
  }

  /** Creates a redirect URL to the client, with `iss`, so that clients can tell which server responded. @see RFC 9207 */
  toClient({ redirectUri, state }: NonNullable<OAuthRefusal['redirect']>, params: Readonly<Record<string, string>>): string {
    const url = new URL(redirectUri);
    const all = { ...params, ...(state === undefined ? {} : { state }), iss: this.#parts.settings.issuer };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Redirects to the provider, after consent. Creates the `state`, and the cookie with the sign-in in progress. */
  async #forward(httpRequest: Request, { request, pageId }: ConsentAnswer, cookies: readonly string[] = []): Promise<Response> {
    const { settings, upstream } = this.#parts;
    const flow: UpstreamFlow = { state: randomText(), codeVerifier: randomText(), nonce: randomText() };
    const sealed = await settings.sealer.seal(this.#purpose, { ...flow, request: toRecord(request), pageId }, FLOW_MS);
    const cookie = writeCookie(await toFlowCookie(flow.state), sealed, FLOW_MS);
    if (cookie.length > MAX_COOKIE_LENGTH)
      throw new OAuthRefusal('invalid_request', 'The client id, redirect URI, scopes and state are too long together', {
        redirect: request,
      });
    let room = MAX_FLOWS_LENGTH - cookie.length;
    const older = listCookies(httpRequest, 'flow-').toReversed();
    const dropped = older.filter(({ value }) => (room -= value.length) < 0).map(({ name }) => writeCookie(name, '', 0));
    return redirectResponse(await upstream.authorizationUrl(flow), [...cookies, ...dropped, cookie]);
  }

  /** Reads the sign-in in progress that a `state` belongs to, from the browser's cookie. */
  async #readFlow(httpRequest: Request, state: string): Promise<Flow> {
    const sealed = readCookie(httpRequest, await toFlowCookie(state));
    const flow = (await this.#parts.settings.sealer.open(this.#purpose, sealed)) as unknown as Flow | undefined;
    if (flow?.state === state) return flow;
    throw new OAuthRefusal('invalid_request', 'The response of the provider belongs to no sign-in in progress in this browser');
  }

  get #purpose(): string {
    return `sign-in at ${this.#parts.settings.issuer}`;
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
async function toFlowCookie(state: string): Promise<string> {
  return `flow-${(await digest(state)).slice(0, 16)}`;
}
