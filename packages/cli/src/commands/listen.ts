/** `mortise listen`: prints what a server announces, until it is interrupted. */

import type { McpClient } from '@mortise/client';
import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { SubscriptionFilter } from '@mortise/protocol/model';
import type { Command } from 'commander';
import { CliError, ExitCode } from '../errors.ts';
import { addServerCommand, collect, type ServerCommandOptions, useServer } from '../server-command.ts';
import { clean, type Terminal } from '../terminal.ts';

interface ListenOptions extends ServerCommandOptions {
  readonly resource?: readonly string[];
}

export function addListen(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'listen', 'Print list changes, resource updates and log messages until Ctrl-C')
    .option('--resource <uri>', 'also follow this resource; may be repeated', collect)
    .action((server: string, options: ListenOptions) =>
      useServer(terminal, server, options, ({ client }) => follow(client, options.resource ?? [], terminal)),
    );
}

async function follow(client: McpClient, resources: readonly string[], terminal: Terminal): Promise<void> {
  const { tools, resources: served, prompts, logging } = client.serverCapabilities;
  const filter: SubscriptionFilter = {
    toolsListChanged: tools?.listChanged === true,
    resourcesListChanged: served?.listChanged === true,
    promptsListChanged: prompts?.listChanged === true,
    resourceSubscriptions: resources,
  };
  if (logging && client.era === 'legacy') {
    client.onLog((params) => print({ jsonrpc: '2.0', method: 'notifications/message', params: { ...params } }, terminal));
    await client.setLoggingLevel('debug');
  }
  const subscription = client.listen(filter, { signal: terminal.io.signal });
  await subscription.accepted;
  terminal.note(terminal.styleNote('dim', `listening to ${clean(client.serverInfo?.name ?? 'the server')}; Ctrl-C ends`));
  for await (const event of subscription) print(event, terminal);
  throw new CliError('the server ended the subscription', ExitCode.unreachable);
}

function print({ method, params }: JsonRpcNotification, terminal: Terminal): void {
  if (terminal.isJson) return terminal.printJson({ method, params }, true);
  const text = params === undefined ? '' : clean(JSON.stringify(params));
  terminal.print(`${terminal.style('dim', new Date().toISOString().slice(11, 23))} ${terminal.style('bold', clean(method))} ${text}`);
}
