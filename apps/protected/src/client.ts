/**
 * Starts all three on this machine and walks through them. The sign-in pages open in the browser; any name and password will do.
 *
 * `--serve` only starts the two servers, for a client of one's own.
 */

import { parseArgs } from 'node:util';
import { startAuthorizationServer, type TokenFormat } from './authorization-server.ts';
import { READ, startProtectedServer, WRITE } from './protected-server.ts';
import { walkThrough } from './walk-through.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'auth-port': { type: 'string', default: '0' },
    opaque: { type: 'boolean', default: false },
    dpop: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
  },
});
const tokenFormat: TokenFormat = values.opaque ? 'opaque' : values.dpop ? 'dpop' : 'jwt';
const accessTokenSeconds = values.serve ? 600 : 5;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const authorizationServer = await startAuthorizationServer({
  port: Number(values['auth-port']),
  scopes: [READ, WRITE],
  accessTokenSeconds,
  tokenFormat,
});
const server = await startProtectedServer({ port: Number(values.port), authorizationServer, tokenFormat });
const close = async (): Promise<void> => {
  await server.close();
  await authorizationServer.close();
};
say(`authorization server  ${authorizationServer.issuer}\nprotected MCP server  ${server.url}\n`);

if (values.serve) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
} else {
  try {
    const untilExpired = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, (accessTokenSeconds + 1) * 1000));
    const visits = await walkThrough({ url: server.url, dpop: values.dpop, untilExpired, say });
    say(`\nDone: ${visits} sign-in pages for everything above.`);
  } finally {
    await close();
  }
}
