/** `/server/middleware/hostHeaderValidation`: Express middleware that refuses requests under a foreign host name. */

import type { RequestHandler } from 'express';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests whose `Host` is not listed, with status 403. Ports do not matter. This prevents DNS rebinding.
 *
 * @param allowedHostnames Host names without port; IPv6 addresses in brackets.
 */
export function hostHeaderValidation(allowedHostnames: string[]): RequestHandler {
  return (request, response, next) => {
    const reason = findReason(request.headers.host, allowedHostnames);
    if (reason === undefined) return next();
    response.status(403).json({ jsonrpc: '2.0', error: { code: -32000, message: reason }, id: null });
  };
}

/** Allows the names of this machine: `localhost`, `127.0.0.1` and `[::1]`. */
export function localhostHostValidation(): RequestHandler {
  return hostHeaderValidation(LOCAL);
}

function findReason(host: string | undefined, allowed: readonly string[]): string | undefined {
  if (!host) return 'Missing Host header';
  if (!URL.canParse(`http://${host}`)) return `Invalid Host header: ${host}`;
  const { hostname } = new URL(`http://${host}`);
  return allowed.includes(hostname) ? undefined : `Invalid Host: ${hostname}`;
}
