/** Sign-in with the user's browser and a local listener for the redirect back. @see RFC 8252 section 7.3 */

import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { SignIn, SignInVisit } from '../client/sign-in.ts';
import { AuthError } from '../errors.ts';
import { assertSafeUrl, escapeShell } from '../safe-fetch.ts';

/** The options of `loopbackSignIn`. */
export interface LoopbackSignInOptions {
  /** Shows the sign-in page (a URL that `urls` allows) to the user. May resolve after the redirect back. @default `openBrowser` */
  readonly open?: ((url: URL) => Promise<void> | void) | undefined;
  /**
   * The redirect URL to listen at, as registered: `http://127.0.0.1:8123/callback`. Without a port, the port of an earlier registration or
   * a free port is used.
   *
   * @default http://127.0.0.1/callback
   */
  readonly redirectUrl?: string | undefined;
  /** The time limit for the user's sign-in, in milliseconds. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  /** Runs the timer of `timeoutMs`. @default the system clock */
  readonly clock?: Clock | undefined;
}

/**
 * Creates a sign-in with the user's browser and a local listener for the redirect back.
 *
 * It listens only on the loopback address and only during a sign-in. It refuses other requests, and responses to another sign-in, and
 * continues to wait. After `timeoutMs` the call that needed a token rejects with `ERR_SIGN_IN_TIMEOUT`.
 *
 * @throws {TypeError} An option is invalid.
 */
export function loopbackSignIn(options: LoopbackSignInOptions = {}): SignIn {
  const table = { open: 'function', redirectUrl: 'string', timeoutMs: 0, clock: 'object' } as const;
  checkOptions('loopbackSignIn', options, table);
  const { redirectUrl = 'http://127.0.0.1/callback' } = options;
  const wanted = URL.canParse(redirectUrl) ? new URL(redirectUrl) : undefined;
  if (wanted?.protocol !== 'http:' || !isLoopbackHost(wanted.hostname) || wanted.search !== '' || wanted.hash !== '')
    throw new TypeError(
      `loopbackSignIn: "redirectUrl" must be an http URL on this machine without query and fragment, got "${redirectUrl}"`,
    );
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
      // `open` may resolve only after the sign-in, or never.
      const opened = Promise.resolve(open(url)).then(() => back);
      return await abortable(Promise.race([back, opened]), limit.signal);
    } catch (cause) {
      if (!(cause instanceof TimeoutError) || cause !== limit.signal.reason) throw cause;
      throw new AuthError('ERR_SIGN_IN_TIMEOUT', `The user did not finish the sign-in within ${timeoutMs} ms: try again`, { cause });
    } finally {
      limit.dispose();
    }
  }

  async close(): Promise<void> {
    this.#server.closeIdleConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      // A connection that is still open after a second has its response, or needs none.
      setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
    });
  }

  #awaitAnswer(state: string): Promise<URL> {
    return new Promise((resolve) => {
      this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const url = readAnswer(request, this.redirectUrl);
        const isOurs = url !== undefined && state !== '' && url.searchParams.get('state') === state;
        if (!isOurs) return reply(response, url === undefined ? 404 : 400, 'This does not belong to a sign-in in progress.');
        response.once('close', () => resolve(url));
        const isRefused = url.searchParams.has('error');
        const outcome = isRefused
          ? 'The sign-in was refused. Go back to the program.'
          : 'You can close this window and go back to the program.';
        reply(response, 200, outcome);
      });
    });
  }
}

/** Reads the redirect back. @returns undefined for another path or method, or for another host name (DNS rebinding). */
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

/** Starts to listen on this machine. @param mayMove Whether to use another port if `port` is taken. */
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

/** The command that opens a URL in the browser, by operating system: the program and its arguments before the URL. */
const OPENERS: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** How long to wait whether the program that opens URLs fails. A program that becomes the browser itself does not exit. */
const OPENER_MS = 3_000;

/**
 * Opens a URL in the user's browser with the system's program for that. Resolves when the program exits successfully, or after 3
 * seconds. The URL is one argument of the program and is not read by a shell.
 *
 * @param options.opener The program and its arguments before the URL. Without it: the system's opener (`open`, `rundll32`, `xdg-open`).
 * @throws {AuthError} `ERR_UNSAFE_URL`: the URL is neither https nor http on this machine. `ERR_SIGN_IN_REQUIRED`: the program is
 * missing or failed, as `xdg-open` does without a browser.
 * @see 2026-07-28 security_best_practices#oauth-authorization-url-validation
 */
export async function openBrowser(url: string | URL, options: { readonly opener?: readonly string[] } = {}): Promise<void> {
  checkOptions('openBrowser', options, { opener: 'array' });
  assertSafeUrl(url, { allowLoopback: true, allowPrivate: true }, 'URL to open');
  const [program = 'xdg-open', ...args] = options.opener ?? OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, escapeShell(url).href], { shell: false, stdio: 'ignore', detached: true, windowsHide: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string, cause?: Error): void =>
        reject(
          new AuthError('ERR_SIGN_IN_REQUIRED', `The browser could not be opened (${why}): set the option "open" to show the URL instead`, {
            cause,
          }),
        );
      child.once('error', (cause) => fail(cause.message, cause));
      child.once('exit', (code, signal) => (code === 0 ? resolve() : fail(`${program} exited with ${code ?? signal}`)));
      timer = setTimeout(resolve, OPENER_MS);
    });
  } finally {
    clearTimeout(timer);
    child.unref();
  }
}
