#!/usr/bin/env node
/** A chat in the terminal with a model that uses the servers of a configuration file. */

import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOAuth } from '@mortise/auth-oauth/node';
import { createHost, type Host, type HostEvent, type HostServer } from '@mortise/host';
import { readConfigFile } from '@mortise/host/config';
import { lockFile } from '@mortise/host/node';
import { taskClient } from '@mortise/tasks/client';
import { program } from 'commander';
import { answerQuestions, offerModel } from './answer.ts';
import { Chat } from './chat.ts';
import { clean, cleanLine } from './clean.ts';
import { stateLine } from './commands.ts';
import { askForConsent } from './consent.ts';
import type { Model } from './model.ts';
import { openAiModel } from './openai-model.ts';
import { Screen } from './screen.ts';
import { scriptedModel } from './scripted-model.ts';

const flags = program
  .name('node apps/chat-host/dist/client.js')
  .description('A chat with a model that uses the servers of a configuration file, and asks before each tool call.')
  .option('--config <file>', 'the servers, as in mcp.json of desktop hosts', fileURLToPath(new URL('../mcp.json', import.meta.url)))
  .option('--state <folder>', 'where your decisions are kept (default: .chat-host beside the configuration)')
  .option('--verbose', 'show log messages and error output of servers', false)
  .addHelpText(
    'after',
    `
The model is any OpenAI-compatible endpoint: OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name it. Without OPENAI_BASE_URL
a script takes its place, which needs no network.

Example: OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 node apps/chat-host/dist/client.js --config mcp.json`,
  )
  .showSuggestionAfterError(false)
  .configureOutput({
    outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --config, --state, --verbose, --help\n')),
  })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ config: string; state?: string; verbose: boolean }>();

if (process.stdin.isTTY && process.stdout.isTTY) await main();
else {
  process.stderr.write('The chat needs a terminal, for its input and its output\n');
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const screen = new Screen(process.stdin, process.stdout, process.env);
  const config = resolve(flags.config);
  const state = flags.state ?? join(dirname(config), '.chat-host');
  const model = chooseModel();
  try {
    await mkdir(state, { recursive: true });
    const host = createHost({
      servers: await readServers(config, screen),
      policy: askForConsent(screen, lockFile(join(state, 'decisions.json'))),
      lock: lockFile(join(state, 'tools.json')),
      elicitation: answerQuestions(screen),
      sampling: offerModel(screen, model),
      extensions: () => [taskClient()],
      info: { name: 'chat-host', version: '1.0.0' },
    });
    try {
      host.onEvent((event) => show(event, screen));
      start(host);
      screen.print(`You talk with ${cleanLine(model.name)}. /help says what else there is`);
      await new Chat(host, screen, model).run();
    } finally {
      await host.close();
    }
  } catch (error) {
    process.exitCode = 1;
    screen.print(`✗ ${cleanLine((error as Error).message, 600)}`);
  } finally {
    screen.close();
  }
}

/** Starts all servers, after the events are listened to. One that fails says so by its state. */
function start(host: Host): void {
  for (const server of host.states.keys()) host.start(server).catch(() => undefined);
}

function chooseModel(): Model {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model = 'gpt-5-mini' } = process.env;
  return baseUrl ? openAiModel({ baseUrl, apiKey, model }) : scriptedModel();
}

/** Reads the configuration. A mistake in it costs only the server that it is in. */
async function readServers(path: string, screen: Screen): Promise<Readonly<Record<string, HostServer>>> {
  const { servers, problems } = await readConfigFile(path, {
    env: process.env,
    names: { workspaceFolder: dirname(path), userHome: homedir() },
    input: ({ id, description, isPassword }) => screen.ask(`${cleanLine(description ?? id)}: `, { isSecret: isPassword }),
    authorizer: (_server, url) => nodeOAuth(url),
    onStderr: (server, line) => flags.verbose && screen.print(screen.style('dim', `${cleanLine(server)} │ ${cleanLine(line)}`)),
  });
  for (const { severity, file, line, key, message } of problems)
    screen.print(screen.style('yellow', `${severity}: ${clean(`${file}:${line}: ${key} ${message}`)}`));
  return servers;
}

function show(event: HostEvent, screen: Screen): void {
  const server = cleanLine(event.server);
  switch (event.type) {
    case 'state':
      if (event.state.status !== 'closed') screen.print(stateLine(screen, event.server, event.state));
      break;
    case 'list changed':
      screen.print(screen.style('dim', `${server}: the list of ${event.list} has changed`));
      break;
    case 'error':
      screen.print(screen.style('yellow', `${server}: ${cleanLine(event.error.message)}`));
      break;
    case 'log':
      if (flags.verbose) screen.print(screen.style('dim', `${server} │ ${event.level}: ${cleanLine(JSON.stringify(event.data))}`));
      break;
    case 'resource updated':
      break;
  }
}
