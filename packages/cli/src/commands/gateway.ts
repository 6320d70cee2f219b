/** `mortise gateway`: the servers of a configuration file as one, over stdio or HTTP, in every revision. */

import { createGateway } from '@mortise/host/gateway';
import type { Logger } from '@mortise/jsonrpc-core';
import type { Command } from 'commander';
import { readServers } from '../configured.ts';
import { CliError } from '../errors.ts';
import { addServingOptions, serve, type ServingOptions } from '../serve.ts';
import { clean, type Terminal } from '../terminal.ts';

interface GatewayOptions extends ServingOptions {
  readonly verbose?: boolean;
}

export function addGateway(program: Command, terminal: Terminal): void {
  const command = program.command('gateway <file>').description('Serve all servers of an mcp.json as one, for clients of any revision');
  addServingOptions(command)
    .option('-v, --verbose', 'show what the servers write to their error output')
    .addHelpText('after', '\nExample:\n  mortise gateway .mcp.json --http --port 3000')
    .action((file: string, options: GatewayOptions) => run(file, options, terminal));
}

async function run(file: string, options: GatewayOptions, terminal: Terminal): Promise<void> {
  terminal.isVerbose = options.verbose === true;
  const servers = await readServers(file, terminal);
  if (Object.keys(servers).length === 0) throw new CliError(`${file} has no usable server`);
  const transports = Object.entries(servers).map(([name, { transport }]) => [name, { transport }] as const);
  const logger: Logger = { log: (level, message) => terminal.note(`${terminal.styleNote('yellow', level)}: ${clean(message)}`) };
  const gateway = createGateway({ servers: Object.fromEntries(transports), logger });
  await serve(gateway, options, terminal);
  await gateway.close();
}
