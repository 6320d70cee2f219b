/** A `fetch` that checks the address that a host name resolves to, and connects to that address. */

import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { classifyHost, type UrlPolicy } from '@mortise/protocol/edge';
import { toServerUrl, toUrlPolicy } from '../client/authorizer-options.ts';
import { AuthError } from '../errors.ts';
import { type FetchLike, nameUrl } from '../safe-fetch.ts';

/**
 * Creates a `fetch` for `oauth` and the other authorizers that refuses host names of private, link-local or cloud metadata addresses.
 *
 * The host of `server` itself may resolve to any address. Sends no `Accept-Encoding`, uses a new connection for each request, and does
 * not follow redirects.
 *
 * @param server The MCP server's URL.
 * @param urls The `urls` option of `oauth`. Without it: public addresses, and this machine if the server is local.
 * @param resolve Gets all addresses of a host name. Without it: the system resolver.
 */
export function checkedFetch(
  server: string | URL,
  urls?: UrlPolicy,
  resolve: (hostname: string) => Promise<readonly string[]> = resolveBySystem,
): FetchLike {
  const policy = toUrlPolicy(toServerUrl(server), urls);
  return async (url, init) => {
    const { method = 'GET', headers, body, signal } = init;
    const target = new URL(url);
    const options: RequestOptions = {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      agent: false,
      lookup: toLookup(policy, resolve),
      ...(signal && { signal }),
    };
    return toResponse(target, await send(target, options, typeof body === 'string' ? body : undefined));
  };
}

function send(target: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const open = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    open(target, options, resolve).on('error', reject).end(body);
  });
}

function toResponse(target: URL, message: IncomingMessage): Response {
  const { statusCode = 0, rawHeaders } = message;
  if (statusCode < 200 || statusCode > 599) {
    // A `Response` cannot have this status, so nobody would read the body.
    message.destroy();
    throw new AuthError('ERR_AUTH_NETWORK', `${nameUrl(target)} sent the status ${statusCode}, which is not an HTTP status`);
  }
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = statusCode !== 204 && statusCode !== 205 && statusCode !== 304;
  if (!hasBody) message.resume();
  return new Response(hasBody ? (Readable.toWeb(message) as ReadableStream<Uint8Array>) : null, { status: statusCode, headers });
}

/** Creates a DNS lookup that fails if any address of a host name is forbidden, because the peer could choose which address is used. */
function toLookup(policy: UrlPolicy, resolve: (hostname: string) => Promise<readonly string[]>): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const isTrusted = policy.allowedHosts?.includes(hostname.replace(/\.$/, '')) === true;
        const bad = isTrusted ? undefined : addresses.find((address) => !isAllowed(address, policy));
        const found: LookupAddress[] = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (bad !== undefined) callback(toRefusal(hostname), '', 0);
        else if (!first) callback(new Error(`The host name ${hostname} has no IP address`), '', 0);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}

function isAllowed(address: string, { allowLoopback, allowPrivate }: UrlPolicy): boolean {
  const kind = classifyHost(address);
  return kind === 'public' || (kind === 'loopback' ? allowLoopback === true : allowPrivate === true);
}

function toRefusal(hostname: string): NodeJS.ErrnoException {
  return new AuthError(
    'ERR_UNSAFE_URL',
    `${hostname} resolves to an address on this machine or in a private network: allow such addresses in the option "urls"`,
  );
}

function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    resolveName(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found.map(({ address }) => address))));
  });
}
