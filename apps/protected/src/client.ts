/**
 * Starts all three on this machine and walks through them. The sign-in pages open in the browser; any name and password will do.
 *
 * `--serve` only starts the two servers, for a client of one's own.
 */

import { startAuthorizationServer, type TokenFormat } from './authorization-server.ts';
import { PortError } from './listen.ts';
import { READ, startProtectedServer, WRITE } from './protected-server.ts';
import { readFlags } from './read-flags.ts';
import { walkThrough } from './walk-through.ts';

const flags = readFlags(
  `Usage: node apps/protected/dist/client.js [flags]

Starts an authorization server, a protected MCP server and a client on this machine, and walks from sign-in to sign-out in the browser.

  --opaque         tokens that the server asks about at each request (default: JWTs that it reads by itself)
  --dpop           tokens that are bound to a key of the client
  --serve          only start the two servers, for a client of your own
  --port N         the MCP server's port, 0 for any that is free (default 0)
  --auth-port N    the authorization server's port, 0 for any that is free (default 0)

Example: node apps/protected/dist/client.js --serve --port 3000
`,
  {
    opaque: { type: 'boolean', default: false },
    dpop: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
    'auth-port': { type: 'string', default: '0' },
  },
);
const tokenFormat: TokenFormat = flags.opaque ? 'opaque' : flags.dpop ? 'dpop' : 'jwt';
const accessTokenSeconds = flags.serve ? 600 : 5;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A port that is taken, or is none, is the person's to mend: one line says so. */
function refusePort(error: unknown): never {
  if (!(error instanceof PortError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

const authorizationServer = await startAuthorizationServer({
  port: Number(flags['auth-port']),
  scopes: [READ, WRITE],
  accessTokenSeconds,
  tokenFormat,
}).catch(refusePort);
const server = await startProtectedServer({ port: Number(flags.port), authorizationServer, tokenFormat }).catch(refusePort);
const close = async (): Promise<void> => {
  await server.close();
  await authorizationServer.close();
};
say(`authorization server  ${authorizationServer.issuer}\nprotected MCP server  ${server.url}\n`);

if (flags.serve) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
} else {
  try {
    const untilExpired = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, (accessTokenSeconds + 1) * 1000));
    const visits = await walkThrough({ url: server.url, dpop: flags.dpop, untilExpired, say });
    say(`\nDone: ${visits} sign-in pages for everything above.`);
  } finally {
    await close();
  }
}
