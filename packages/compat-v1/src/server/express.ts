/** `/server/express`: an Express application that reads JSON bodies and checks `Host`. Needs the package `express`. */

import express, { type Express } from 'express';
import { hostHeaderValidation, localhostHostValidation } from './middleware/hostHeaderValidation.ts';

export interface CreateMcpExpressAppOptions {
  /** The address that the program listens on. For a loopback address, `Host` must name this machine. @default '127.0.0.1' */
  host?: string | undefined;
  /** The host names that may stand in `Host`. @default those of this machine, for a loopback address */
  allowedHosts?: string[] | undefined;
}

/** Makes an Express application for MCP. `Host` is checked before a body is read. */
export function createMcpExpressApp({ host = '127.0.0.1', allowedHosts }: CreateMcpExpressAppOptions = {}): Express {
  const app = express();
  if (allowedHosts !== undefined) app.use(hostHeaderValidation(allowedHosts));
  else if (['127.0.0.1', 'localhost', '::1'].includes(host)) app.use(localhostHostValidation());
  else if (host === '0.0.0.0' || host === '::')
    console.warn(`Warning: the server listens on ${host} and accepts every Host header. List yours in allowedHosts, or require a token.`);
  app.use(express.json());
  return app;
}
