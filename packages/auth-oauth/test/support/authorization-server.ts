/**
 * A protected server and an authorization server, each a real HTTP server on loopback, that do what a test tells them to: honest by
 * default, and with every request written down.
 */

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that a peer got. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body: a form's members, or a JSON document's. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or text as it is. */
  readonly body?: unknown;
}

/** Answers one request; undefined to answer as usual; 'hang' to never answer. */
export type Route = (request: SeenRequest, response: ServerResponse) => Answer | 'hang' | undefined | Promise<Answer | 'hang' | undefined>;

/** A real HTTP server on loopback, port 0. */
export class Peer {
  readonly seen: SeenRequest[] = [];
  /** By path, before what the peer does itself. */
  readonly routes = new Map<string, Route>();
  readonly #server: Server;
  #host = '127.0.0.1';

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get origin(): string {
    return `http://${this.#host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests to a path. */
  to(path: string): readonly SeenRequest[] {
    return this.seen.filter((request) => request.path === path);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  protected handle(_request: SeenRequest): Answer | Promise<Answer> {
    return { status: 404, body: 'nothing here' };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = await read(request, this.origin);
    this.seen.push(seen);
    const given = await this.routes.get(seen.path)?.(seen, response);
    if (given === 'hang' || response.headersSent) return;
    const { status = 200, headers = {}, body } = given ?? (await this.handle(seen));
    const text = typeof body === 'string' || body === undefined ? (body ?? '') : JSON.stringify(body);
    response.writeHead(status, { ...(typeof body === 'object' && { 'content-type': 'application/json' }), ...headers });
    response.end(text);
  }
}

async function read(request: IncomingMessage, origin: string): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '/', origin);
  const isJson = request.headers['content-type']?.includes('json') === true;
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : Object.fromEntries(new URLSearchParams(text));
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  return { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers, body, text };
}

interface Granted {
  readonly scope: string;
  readonly resource: string;
  readonly clientId: string;
}

/** An authorization server that agrees at once. Its members may be changed before or while it runs. */
export class TestAuthorizationServer extends Peer {
  /** Path of the issuer, without a closing slash. */
  issuerPath = '';
  /** Laid over the metadata; a member that is undefined is left out. */
  metadata: Record<string, unknown> = {};
  /** Seconds; undefined to say nothing. */
  expiresIn: number | undefined = 3600;
  givesRefresh = true;
  rotates = true;
  /** Laid over the authorization response's parameters; null takes one out. */
  response: Record<string, string | null> = {};
  /** Says what was granted, in place of what was asked. */
  grantedScope: string | undefined;
  readonly accessTokens = new Map<string, Granted>();
  readonly refreshTokens = new Map<string, Granted>();
  readonly revoked: string[] = [];
  readonly #codes = new Map<string, Granted & { readonly challenge: string; readonly redirectUri: string }>();

  get issuer(): string {
    return `${this.origin}${this.issuerPath}`;
  }

  get document(): Record<string, unknown> {
    const { issuer, origin } = this;
    return {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      revocation_endpoint: `${origin}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      ...this.metadata,
    };
  }

  /** Plays the person: agrees, and gives where the browser is sent. */
  readonly agree = async (url: URL): Promise<URL> => {
    const answer = await fetch(url, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '');
  };

  protected override handle(request: SeenRequest): Answer {
    if (request.path === `/.well-known/oauth-authorization-server${this.issuerPath}`) return { body: this.document };
    if (request.path === '/authorize') return this.#authorize(request);
    if (request.path === '/token') return this.#token(request);
    if (request.path === '/register') return { status: 201, body: { ...request.body, client_id: `client-${randomUUID()}` } };
    if (request.path === '/revoke') {
      this.revoked.push(String(request.body['token']));
      return { status: 200, body: '' };
    }
    return { status: 404, body: 'nothing here' };
  }

  #authorize({ query }: SeenRequest): Answer {
    const code = randomUUID();
    const redirectUri = query.get('redirect_uri') ?? '';
    this.#codes.set(code, {
      scope: query.get('scope') ?? '',
      resource: query.get('resource') ?? '',
      clientId: query.get('client_id') ?? '',
      challenge: query.get('code_challenge') ?? '',
      redirectUri,
    });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    for (const [name, value] of Object.entries(this.response)) {
      if (value === null) back.searchParams.delete(name);
      else back.searchParams.set(name, value);
    }
    return { status: 302, headers: { location: back.href } };
  }

  #token({ body }: SeenRequest): Answer {
    const refuse = (error: string): Answer => ({ status: 400, body: { error } });
    if (body['grant_type'] === 'refresh_token') {
      const token = String(body['refresh_token']);
      const granted = this.refreshTokens.get(token);
      if (!granted) return refuse('invalid_grant');
      if (this.rotates) this.refreshTokens.delete(token);
      return this.#issue(granted, this.rotates);
    }
    if (body['grant_type'] === 'authorization_code') {
      const granted = this.#codes.get(String(body['code']));
      this.#codes.delete(String(body['code']));
      const verified = createHash('sha256').update(String(body['code_verifier'])).digest('base64url');
      if (!granted || verified !== granted.challenge || body['redirect_uri'] !== granted.redirectUri) return refuse('invalid_grant');
      return this.#issue(granted, this.givesRefresh);
    }
    return this.#issue({ scope: String(body['scope'] ?? ''), resource: String(body['resource'] ?? ''), clientId: '' }, false);
  }

  #issue(granted: Granted, givesRefresh: boolean): Answer {
    const accessToken = `access-${randomUUID()}`;
    this.accessTokens.set(accessToken, { ...granted, scope: this.grantedScope ?? granted.scope });
    const refreshToken = `refresh-${randomUUID()}`;
    if (givesRefresh) this.refreshTokens.set(refreshToken, granted);
    const scope = this.grantedScope ?? (granted.scope === '' ? undefined : granted.scope);
    const body = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: this.expiresIn,
      scope,
      ...(givesRefresh && { refresh_token: refreshToken }),
    };
    return { headers: { 'cache-control': 'no-store' }, body };
  }
}

/** A protected server: any request to its path with a token that is known gets 200. */
export class TestResource extends Peer {
  path = '/mcp';
  /** Laid over the protected resource metadata; a member that is undefined is left out. */
  metadata: Record<string, unknown> = {};
  /** Where the metadata is; undefined for nowhere. */
  metadataPath: string | undefined = '/.well-known/oauth-protected-resource/mcp';
  /** Parameters of the 401's challenge; undefined for no header. */
  challenge: string | undefined;
  /** What a request needs, where it needs more than a token. */
  neededScope: string | undefined;
  /** Tokens that count although they are known are none of these. */
  readonly refused = new Set<string>();
  authorizationServer: TestAuthorizationServer;

  constructor(authorizationServer: TestAuthorizationServer) {
    super();
    this.authorizationServer = authorizationServer;
  }

  get url(): string {
    return `${this.origin}${this.path}`;
  }

  protected override handle(request: SeenRequest): Answer {
    if (request.path === this.metadataPath) {
      return { body: { resource: this.url, authorization_servers: [this.authorizationServer.issuer], ...this.metadata } };
    }
    if (request.path !== this.path) return { status: 404, body: 'nothing here' };
    const token = request.headers['authorization']?.replace(/^(?:Bearer|DPoP) /, '');
    const granted = token === undefined ? undefined : this.authorizationServer.accessTokens.get(token);
    if (!granted || this.refused.has(token ?? '')) {
      return { status: 401, headers: this.challenge === undefined ? {} : { 'www-authenticate': this.challenge }, body: 'sign in' };
    }
    if (this.neededScope !== undefined && !granted.scope.split(' ').includes(this.neededScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${this.neededScope}"`;
      return { status: 403, headers: { 'www-authenticate': challenge }, body: 'more scope' };
    }
    return { body: { ok: true } };
  }
}
