/** Signs a person in with their browser, and waits on this machine for them to come back. @see RFC 8252 section 7.3 */

import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { SignIn, SignInVisit } from '../client/sign-in.ts';
import { AuthError } from '../errors.ts';
import { assertSafeUrl } from '../safe-fetch.ts';

/** How a person signs in on this machine. */
export interface LoopbackSignInOptions {
  /** Takes the person to the URL, which has been checked. The person may be back before it resolves. @default `openBrowser` */
  readonly open?: ((url: URL) => Promise<void> | void) | undefined;
  /**
   * Where to listen, as it was registered: `http://127.0.0.1:8123/callback`. Without a port it is one that is free, or that of an earlier
   * registration.
   *
   * @default http://127.0.0.1/callback
   */
  readonly redirectUrl?: string | undefined;
  /** How long the person may take, in milliseconds. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  /** Runs the timer of `timeoutMs`. @default the system's */
  readonly clock?: Clock | undefined;
}

/**
 * Signs a person in with their browser, and listens on this machine for the answer.
 *
 * Listens on the loopback address alone, only while somebody signs in. Answers to another sign-in, and other requests, are refused, and the
 * wait goes on. `ERR_SIGN_IN_TIMEOUT` comes from the call that wanted a token.
 *
 * @throws {TypeError} An option is wrong.
 */
export function loopbackSignIn(options: LoopbackSignInOptions = {}): SignIn {
  const table = { open: 'function', redirectUrl: 'string', timeoutMs: 0, clock: 'object' } as const;
  checkOptions('loopbackSignIn', options, table);
  const { redirectUrl = 'http://127.0.0.1/callback' } = options;
  const wanted = URL.canParse(redirectUrl) ? new URL(redirectUrl) : undefined;
  if (wanted?.protocol !== 'http:' || !isLoopbackHost(wanted.hostname) || wanted.search !== '' || wanted.hash !== '')
    throw new TypeError(`loopbackSignIn: "redirectUrl" must be http on this machine, without query and fragment, got "${redirectUrl}"`);
  return {
    begin: async ({ redirectUrls }) => {
      const { hostname, pathname, port } = wanted;
      const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 32_768 });
      const earlier = redirectUrls.map((url) => new URL(url)).find((url) => url.hostname === hostname && url.pathname === pathname);
      await listenOn(server, hostname, { port: Number(port || earlier?.port || 0), mayMove: port === '' });
      return new LoopbackVisit(server, `http://${hostname}:${(server.address() as AddressInfo).port}${pathname}`, options);
    },
  };
}

class LoopbackVisit implements SignInVisit {
  readonly redirectUrl: string;
  readonly #server: Server;
  readonly #options: LoopbackSignInOptions;

  constructor(server: Server, redirectUrl: string, options: LoopbackSignInOptions) {
    this.#server = server;
    this.redirectUrl = redirectUrl;
    this.#options = options;
  }

  async authorize(url: URL, { signal }: { readonly signal?: AbortSignal | undefined }): Promise<URL> {
    const { open = openBrowser, timeoutMs = 300_000, clock } = this.#options;
    const back = this.#awaitAnswer(url.searchParams.get('state') ?? '');
    const limit = withTimeout(timeoutMs, signal, clock);
    try {
      // Opening the page may end only when the person is done, or never.
      const opened = Promise.resolve(open(url)).then(() => back);
      return await abortable(Promise.race([back, opened]), limit.signal);
    } catch (cause) {
      if (!(cause instanceof TimeoutError) || cause !== limit.signal.reason) throw cause;
      throw new AuthError('ERR_SIGN_IN_TIMEOUT', `Nobody came back from the sign-in within ${timeoutMs} ms: try again`, { cause });
    } finally {
      limit.dispose();
    }
  }

  async close(): Promise<void> {
    this.#server.closeIdleConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      // Whoever still sends has had an answer, or waits for none.
      setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
    });
  }

  #awaitAnswer(state: string): Promise<URL> {
    return new Promise((resolve) => {
      this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const url = readAnswer(request, this.redirectUrl);
        const isOurs = url !== undefined && state !== '' && url.searchParams.get('state') === state;
        if (!isOurs) return reply(response, url === undefined ? 404 : 400, 'This answers no sign-in that is under way.');
        response.once('close', () => resolve(url));
        reply(response, 200, 'You can close this window and go back to the program.');
      });
    });
  }
}

/** @returns undefined for another path, another method, or a page that reached us under another name. */
function readAnswer({ method, url = '', headers }: IncomingMessage, redirectUrl: string): URL | undefined {
  const expected = new URL(redirectUrl);
  const target = URL.canParse(url, redirectUrl) ? new URL(url, redirectUrl) : undefined;
  const isAnswer =
    method === 'GET' && headers.host === expected.host && target?.origin === expected.origin && target.pathname === expected.pathname;
  return isAnswer ? target : undefined;
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(text);
}

/** @param mayMove Another port will do if this one is taken. */
async function listenOn(
  server: Server,
  host: string,
  { port, mayMove }: { readonly port: number; readonly mayMove: boolean },
): Promise<void> {
  const address = host === '[::1]' ? '::1' : '127.0.0.1';
  const listen = (wanted: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, address, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
  try {
    await listen(port);
  } catch (error) {
    if (!mayMove || port === 0) throw error;
    await listen(0);
  }
}

/** Each system's opener, as a program and its arguments before the URL. */
const OPENERS: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** How long an opener that found no browser may take to say so. One that becomes the browser never ends by itself. */
const OPENER_MS = 3_000;

/**
 * Opens a URL in the person's browser. The URL is one argument of the opener; no shell reads it. Resolves once the opener has ended well, or
 * runs on for 3 seconds.
 *
 * @param options.opener The program and its arguments before the URL. @default the system's: `open`, `rundll32`, `xdg-open`
 * @throws {AuthError} `ERR_UNSAFE_URL`: it is neither https nor http on this machine. `ERR_SIGN_IN_REQUIRED`: there is no opener, or it
 * failed, as `xdg-open` does without a browser.
 * @see 2026-07-28 security_best_practices#oauth-authorization-url-validation
 */
export async function openBrowser(url: string | URL, options: { readonly opener?: readonly string[] } = {}): Promise<void> {
  checkOptions('openBrowser', options, { opener: 'array' });
  assertSafeUrl(url, { allowLoopback: true, allowPrivate: true }, 'URL to open');
  const [program = 'xdg-open', ...args] = options.opener ?? OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, new URL(url).href], { shell: false, stdio: 'ignore', detached: true, windowsHide: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string, cause?: Error): void =>
        reject(
          new AuthError('ERR_SIGN_IN_REQUIRED', `The browser could not be opened (${why}): give "open" to show the URL instead`, { cause }),
        );
      child.once('error', (cause) => fail(cause.message, cause));
      child.once('exit', (code, signal) => (code === 0 ? resolve() : fail(`${program} ended with ${code ?? signal}`)));
      timer = setTimeout(resolve, OPENER_MS);
    });
  } finally {
    clearTimeout(timer);
    child.unref();
  }
}
