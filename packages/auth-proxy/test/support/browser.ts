/** A browser as far as the proxy can tell: it keeps each host's cookies, sends what browsers send, and follows no redirect by itself. */

interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it redirects to. */
  readonly location: URL | undefined;
}

type Handler = (request: Request) => Promise<Response>;

export class Browser {
  readonly #hosts: ReadonlyMap<string, Handler>;
  readonly #cookies: Map<string, Map<string, string>> = new Map();

  constructor(hosts: Readonly<Record<string, Handler>>) {
    this.#hosts = new Map(Object.entries(hosts));
  }

  get(url: string | URL, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#visit(new URL(url), { headers });
  }

  /** Presses a button of a form that a page holds. */
  press(page: Page, from: string, decision: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const action = /<form[^>]*action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const request = /name="request" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const url = new URL(action, from);
    return this.#visit(url, {
      method: 'POST',
      body: new URLSearchParams({ request, decision }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin, 'sec-fetch-site': 'same-origin', ...headers },
    });
  }

  cookiesOf(host: string): Map<string, string> {
    const cookies = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, cookies);
    return cookies;
  }

  async #visit(url: URL, init: { method?: string; body?: string; headers: Readonly<Record<string, string>> }): Promise<Page> {
    const handler = this.#hosts.get(url.host);
    if (handler === undefined) throw new Error(`nobody is at ${url.host}`);
    const jar = this.cookiesOf(url.host);
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ');
    const response = await handler(new Request(url, { ...init, headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) } }));
    for (const line of response.headers.getSetCookie()) store(jar, line);
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url),
    };
  }
}

function store(jar: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (/max-age=0(?:;|$)/i.test(line)) jar.delete(name);
  else jar.set(name, value);
}
