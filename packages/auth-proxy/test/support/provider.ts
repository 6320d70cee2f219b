/**
 * A provider that registers no clients: it knows one, `mcp-proxy`, and remembers that a browser's user has consented to it, as the attack on
 * proxies needs.
 */

import { createHash, randomUUID } from 'node:crypto';

export const PROVIDER = 'https://provider.example';

export class Provider {
  readonly forms: { readonly path: string; readonly form: URLSearchParams }[] = [];
  /** How often a consent screen was shown. */
  consents = 0;
  user = 'ada';
  expiresIn: number | undefined = 3_600;
  refuses = false;
  readonly revoked: string[] = [];
  readonly #codes: Map<string, URLSearchParams> = new Map();
  #count = 0;

  /** What browsers see. Someone who has consented before is sent back at once. */
  readonly browse = (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== '/authorize') return Promise.resolve(new Response('', { status: 404 }));
    if (!/(?:^|; )consented=mcp-proxy/.test(request.headers.get('cookie') ?? '')) this.consents += 1;
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('state', searchParams.get('state') ?? '');
    if (this.refuses) back.searchParams.set('error', 'access_denied');
    else back.searchParams.set('code', this.#createCode(searchParams));
    return Promise.resolve(
      new Response(null, { status: 303, headers: { location: back.href, 'set-cookie': 'consented=mcp-proxy; Path=/' } }),
    );
  };

  /** What programs see. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    const form = new URLSearchParams(String(init?.body ?? ''));
    this.forms.push({ path: pathname, form });
    if (pathname === '/revoke') {
      this.revoked.push(form.get('token') ?? '');
      return new Response(null, { status: 200 });
    }
    if (pathname !== '/token') return new Response('', { status: 404 });
    return this.refuses ? Response.json({ error: 'invalid_grant' }, { status: 400 }) : this.#answer(form);
  };

  #createCode(asked: URLSearchParams): string {
    const code = randomUUID();
    this.#codes.set(code, asked);
    return code;
  }

  #answer(form: URLSearchParams): Response {
    if (form.get('grant_type') === 'authorization_code') {
      const asked = this.#codes.get(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (asked?.get('code_challenge') !== challenge) return Response.json({ error: 'invalid_grant' }, { status: 400 });
      this.#codes.delete(form.get('code') ?? '');
    }
    this.#count += 1;
    return Response.json({
      access_token: `upstream-${this.user}-${this.#count}`,
      refresh_token: `upstream-refresh-${this.#count}`,
      token_type: 'bearer',
      ...(this.expiresIn === undefined ? {} : { expires_in: this.expiresIn }),
    });
  }
}
