/** An issuer that lives in one `fetch`: metadata, keys that rotate, introspection, token exchange. It remembers what it was asked. */

import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const ISSUER = 'https://as.example';
export const RESOURCE = 'https://mcp.example/mcp';

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

type CryptoKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

export class TestIssuer {
  readonly asked: string[] = [];
  readonly forms: URLSearchParams[] = [];
  /** What introspection says of a token. */
  readonly introspections: Map<string, Record<string, unknown>> = new Map();
  exchange: (form: URLSearchParams) => Response = () => Response.json({ error: 'invalid_request' }, { status: 400 });
  fails = false;
  #keys: Key[] = [];
  #count = 0;

  static async create(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.rotate();
    return issuer;
  }

  /** Signs with a new key from now on, and withdraws the old one. */
  async rotate(): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = `key-${++this.#count}`;
    const key = { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
    this.#keys = [key];
    return key;
  }

  get key(): Key {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('no key');
    return key;
  }

  /** A token that is good, but for what is given. @param atMs When it is made. */
  sign(claims: JWTPayload = {}, { header = {}, key = this.key, atMs = Date.now() }: SignOptions = {}): Promise<string> {
    const seconds = Math.floor(atMs / 1000);
    const all = { iss: ISSUER, aud: RESOURCE, sub: 'ada', client_id: 'cli', scope: 'mcp', iat: seconds, exp: seconds + 600, ...claims };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return new SignJWT(kept).setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'at+jwt', ...header }).sign(key.privateKey);
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    this.asked.push(url);
    if (this.fails) throw new TypeError('fetch failed');
    const { pathname } = new URL(url);
    if (pathname === '/.well-known/oauth-authorization-server') return Response.json(METADATA);
    if (pathname === '/jwks') return Response.json({ keys: this.#keys.map(({ publicJwk }) => publicJwk) });
    const form = new URLSearchParams(String(init?.body ?? ''));
    this.forms.push(form);
    if (pathname === '/introspect') return Response.json(this.introspections.get(form.get('token') ?? '') ?? { active: false });
    if (pathname === '/token') return this.exchange(form);
    return new Response('', { status: 404 });
  };
}

interface SignOptions {
  readonly header?: Record<string, unknown>;
  readonly key?: Key;
  readonly atMs?: number;
}

const METADATA = {
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/jwks`,
  token_endpoint: `${ISSUER}/token`,
  introspection_endpoint: `${ISSUER}/introspect`,
  response_types_supported: ['code'],
};
