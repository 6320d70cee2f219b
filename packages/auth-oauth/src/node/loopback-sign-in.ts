/** Waits on this machine for the person to come back from the authorization server. @see RFC 8252 section 7.3 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { type Clock, TimeoutError } from '@mortise/jsonrpc-core';
import type { SignIn, SignInVisit } from '../client/sign-in.ts';
import { SignInTimeoutError } from '../errors.ts';
import { openBrowser } from './open-browser.ts';

/** How a person signs in on this machine. */
export interface LoopbackSignInOptions {
  /** Takes the person to the URL, which has been checked. It need not come to its end before the person is back. @default `openBrowser` */
  readonly open?: ((url: URL) => Promise<void> | void) | undefined;
  /** Where to listen. @default one that is free; that of an earlier registration where it can be had */
  readonly port?: number | undefined;
  /** The name of this machine in the redirect URL. @default 127.0.0.1 */
  readonly host?: '127.0.0.1' | '[::1]' | 'localhost' | undefined;
  /** The path of the redirect URL. @default /callback */
  readonly path?: string | undefined;
  /** How long the person may take, in milliseconds. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  /** What the person reads when they are back: text, without markup. @default that they can close the window */
  readonly message?: string | undefined;
  /** Runs the timer of `timeoutMs`. @default the system's */
  readonly clock?: Clock | undefined;
}

/**
 * Signs a person in with their browser, and listens on this machine for the answer.
 *
 * Listens on the loopback address alone, only while somebody signs in. Answers to another sign-in, and whatever else knocks, are
 * turned away, and the wait goes on.
 *
 * @throws {SignInTimeoutError} from the call that wanted a token: nobody came back in time.
 */
export function loopbackSignIn(options: LoopbackSignInOptions = {}): SignIn {
  return {
    begin: async ({ redirectUrls }) => {
      const { host = '127.0.0.1', path = '/callback' } = options;
      const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 32_768 });
      const earlier = redirectUrls
        .map((url) => new URL(url))
        .find((url) => url.hostname === host && url.pathname === path && url.port !== '');
      await listenOn(server, host, options.port ?? Number(earlier?.port ?? 0), options.port === undefined);
      const redirectUrl = `http://${host}:${(server.address() as AddressInfo).port}${path}`;
      return new LoopbackVisit(server, redirectUrl, options);
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
      // A way to open it may be done only when the person is, or never.
      const opened = Promise.resolve(open(url)).then(() => back);
      return await abortable(Promise.race([back, opened]), limit.signal);
    } catch (error) {
      if (!(error instanceof TimeoutError) || error !== limit.signal.reason) throw error;
      throw new SignInTimeoutError(`Nobody came back from the sign-in within ${timeoutMs} ms: try again`, { cause: error });
    } finally {
      limit.dispose();
    }
  }

  async close(): Promise<void> {
    this.#server.closeIdleConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      // Whoever still sends has had an answer, or has none to wait for.
      setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
    });
  }

  #awaitAnswer(state: string): Promise<URL> {
    const { message = 'You can close this window and go back to the program.' } = this.#options;
    return new Promise((resolve) => {
      this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const url = readAnswer(request, this.redirectUrl);
        const isOurs = url !== undefined && state !== '' && url.searchParams.get('state') === state;
        if (!isOurs) return reply(response, url === undefined ? 404 : 400, 'This answers no sign-in that is under way.');
        response.once('close', () => resolve(url));
        reply(response, 200, message);
      });
    });
  }
}

/** @returns undefined for what is no answer: another path, another method, a page that reached us under another name. */
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

/** @param mayMove Another port will do where this one is taken. */
async function listenOn(server: Server, host: string, port: number, mayMove: boolean): Promise<void> {
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
