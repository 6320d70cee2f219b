/**
 * Starts all three on this machine and walks through them. The sign-in pages open in the browser; any name and password will do.
 *
 * `--serve` only starts the two servers, for a client of one's own.
 */

import { InvalidArgumentError, Option, program } from 'commander';
import { startAuthorizationServer, type TokenFormat } from './authorization-server.ts';
import { PortError } from './listen.ts';
import { READ, startProtectedServer, WRITE } from './protected-server.ts';
import { walkThrough } from './walk-through.ts';

const flags = program
  .name('node apps/protected/dist/client.js')
  .description(
    'Starts an authorization server, a protected MCP server and a client on this machine, and walks from sign-in to sign-out in the browser.',
  )
  .addOption(new Option('--opaque', 'tokens that the server asks about at each request').default(false, 'JWTs that it reads by itself'))
  .option('--dpop', 'tokens that are bound to a key of the client', false)
  .option('--serve', 'only start the two servers, for a client of your own', false)
  .option('--port <n>', "the MCP server's port, 0 for any that is free", parsePort, 0)
  .option('--auth-port <n>', "the authorization server's port, 0 for any that is free", parsePort, 0)
  .addHelpText('after', '\nExample: node apps/protected/dist/client.js --serve --port 3000')
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) =>
      write(reason.replace(/\.?\n$/, '; the flags are --opaque, --dpop, --serve, --port, --auth-port, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ opaque: boolean; dpop: boolean; serve: boolean; port: number; authPort: number }>();
const tokenFormat: TokenFormat = flags.opaque ? 'opaque' : flags.dpop ? 'dpop' : 'jwt';
const accessTokenSeconds = flags.serve ? 600 : 5;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A port that is taken is the person's to mend: one line says so. */
function refusePort(error: unknown): never {
  if (!(error instanceof PortError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

const authorizationServer = await startAuthorizationServer({
  port: flags.authPort,
  scopes: [READ, WRITE],
  accessTokenSeconds,
  tokenFormat,
}).catch(refusePort);
const server = await startProtectedServer({ port: flags.port, authorizationServer, tokenFormat }).catch(refusePort);
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

/** A port that a person typed; 0 takes any that is free. */
function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535');
  return Number(text);
}
