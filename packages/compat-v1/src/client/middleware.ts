/** `/client/middleware`: wrappers of `fetch`. */

import type { FetchLike } from '../shared/transport.ts';
import { auth } from './auth/authorize.ts';
import { extractWWWAuthenticateParams } from './auth/challenge.ts';
import { type OAuthClientProvider, UnauthorizedError } from './auth/provider.ts';

export type Middleware = (next: FetchLike) => FetchLike;

export type RequestLogger = (input: {
  method: string;
  url: string | URL;
  /** 0 if there was no response. */
  status: number;
  statusText: string;
  /** In milliseconds. */
  duration: number;
  requestHeaders?: Headers | undefined;
  responseHeaders?: Headers | undefined;
  error?: Error | undefined;
}) => void;

export type LoggingOptions = {
  /** @default standard output, and standard error for failures */
  logger?: RequestLogger | undefined;
  includeRequestHeaders?: boolean | undefined;
  includeResponseHeaders?: boolean | undefined;
  /** Responses with a lower status are not logged. @default 0 */
  statusLevel?: number | undefined;
};

/**
 * Adds the provider's token to each request, and signs in once after a 401.
 *
 * @param baseUrl The server to sign in to. @default the origin of the request
 * @throws {UnauthorizedError} The user must sign in, or the sign-in failed.
 */
export const withOAuth =
  (provider: OAuthClientProvider, baseUrl?: string | URL): Middleware =>
  (next) =>
  async (input, init) => {
    const send = async (): Promise<Response> => {
      const headers = new Headers(init?.headers);
      const tokens = await provider.tokens();
      if (tokens) headers.set('Authorization', `Bearer ${tokens.access_token}`);
      return next(input, { ...init, headers });
    };
    const first = await send();
    if (first.status !== 401) return first;
    await signIn(provider, baseUrl ?? new URL(input).origin, first, next);
    const second = await send();
    if (second.status === 401) throw new UnauthorizedError(`Authentication failed for ${input}`);
    return second;
  };

async function signIn(provider: OAuthClientProvider, serverUrl: string | URL, response: Response, fetchFn: FetchLike): Promise<void> {
  try {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    if ((await auth(provider, { serverUrl, resourceMetadataUrl, scope, fetchFn })) === 'AUTHORIZED') return;
  } catch (error) {
    if (error instanceof UnauthorizedError) throw error;
    throw new UnauthorizedError(`Failed to re-authenticate: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UnauthorizedError('Authentication requires user authorization - redirect initiated');
}

/** Logs each request. Headers, which may hold secrets, only where asked for. */
export const withLogging = (options: LoggingOptions = {}): Middleware => {
  const { logger = logToConsole, includeRequestHeaders = false, includeResponseHeaders = false, statusLevel = 0 } = options;
  return (next) => async (url, init) => {
    const start = performance.now();
    const base = { method: init?.method ?? 'GET', url, requestHeaders: includeRequestHeaders ? new Headers(init?.headers) : undefined };
    try {
      const response = await next(url, init);
      const { status, statusText, headers } = response;
      const responseHeaders = includeResponseHeaders ? headers : undefined;
      if (status >= statusLevel) logger({ ...base, status, statusText, duration: performance.now() - start, responseHeaders });
      return response;
    } catch (error) {
      logger({ ...base, status: 0, statusText: 'Network Error', duration: performance.now() - start, error: error as Error });
      throw error;
    }
  };
};

const logToConsole: RequestLogger = ({ method, url, status, statusText, duration, requestHeaders, responseHeaders, error }) => {
  const outcome = error ? `failed: ${error.message}` : `${status} ${statusText}`;
  const headers = Object.entries({ Request: requestHeaders, Response: responseHeaders }).map(([name, given]) =>
    given ? `\n  ${name} Headers: {${Array.from(given, ([key, value]) => `${key}: ${value}`).join(', ')}}` : '',
  );
  const line = `HTTP ${method} ${url} ${outcome} (${duration}ms)${headers.join('')}`;
  if (error || status >= 400) console.error(line);
  else console.log(line);
};

/** Joins middlewares: the last one sees a request first. */
export const applyMiddlewares =
  (...middleware: Middleware[]): Middleware =>
  (next) =>
    middleware.reduce((inner, each) => each(inner), next);

/** Makes a middleware of a function that gets the next `fetch` and the request. */
export const createMiddleware =
  (handler: (next: FetchLike, input: string | URL, init?: RequestInit) => Promise<Response>): Middleware =>
  (next) =>
  (input, init) =>
    handler(next, input, init);
