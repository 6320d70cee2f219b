/** Lines that begin with `/`: commands of the chat, and prompts of the servers. */

import type { Host, HostPrompt, ServerState } from '@mortise/host';
import { clean, cleanBlock, cleanLine } from './clean.ts';
import type { ChatMessage } from './model.ts';
import { blockText } from './results.ts';
import type { Screen } from './screen.ts';

const HELP = `  /servers            how the servers are
  /start SERVER       starts a server that failed, or after you have signed in
  /tools              the tools
  /resources          the resources; @words in a message attaches one
  /prompts            the prompts; /SERVER__PROMPT name=value uses one
  /quit               ends the chat (so does Ctrl-D). Ctrl-C stops an answer`;

export const COMMANDS: readonly string[] = ['/servers', '/start', '/tools', '/resources', '/prompts', '/help', '/quit'];

/** Runs a command. @returns The messages of a prompt, with which the conversation goes on. */
export async function runCommand(line: string, host: Host, screen: Screen, signal: AbortSignal): Promise<readonly ChatMessage[]> {
  const [command = '', ...words] = line.slice(1).trim().split(/\s+/);
  switch (command) {
    case 'help':
      screen.print(HELP);
      return [];
    case 'servers':
      for (const [server, state] of host.states) screen.print(stateLine(screen, server, state));
      return [];
    case 'start':
      await host.start(words[0] ?? '');
      return [];
    case 'tools':
      for (const { name, tool } of await host.tools({ signal })) screen.print(itemLine(screen, name, tool.title ?? tool.description));
      return [];
    case 'resources':
      for (const { server, resource } of await host.resources({ signal }))
        screen.print(itemLine(screen, resource.uri, `${resource.title ?? resource.name} (${server})`));
      return [];
    case 'prompts':
      for (const { name, prompt } of await host.prompts({ signal }))
        screen.print(itemLine(screen, `/${name}`, [prompt.description, ...argumentsOf(prompt)].join(' ')));
      return [];
    default:
      return usePrompt(command, words, host, screen, signal);
  }
}

/** Describes the state of a server on one line. */
export function stateLine(screen: Screen, server: string, state: ServerState): string {
  const isReady = state.status === 'ready';
  const mark = screen.style(
    isReady ? 'green' : state.status === 'failed' ? 'red' : 'yellow',
    isReady ? '✓' : state.status === 'failed' ? '✗' : '…',
  );
  const reason = 'reason' in state ? `: ${cleanLine(state.reason)}` : '';
  const again = state.status === 'failed' && state.willRetry ? '; it is started again' : '';
  const url =
    state.status === 'needs sign-in' && state.url !== undefined ? `\n    ${clean(state.url)}\n    then /start ${clean(server)}` : '';
  return `${mark} ${cleanLine(server)} ${state.status}${reason}${again}${url}`;
}

const itemLine = (screen: Screen, name: string, about = ''): string =>
  `  ${cleanLine(name)}  ${screen.style('dim', cleanLine(about, 100))}`;

const argumentsOf = ({ arguments: known = [] }: HostPrompt['prompt']): readonly string[] =>
  known.map(({ name, required }) => (required === true ? `${name}=` : `[${name}=]`));

async function usePrompt(
  name: string,
  words: readonly string[],
  host: Host,
  screen: Screen,
  signal: AbortSignal,
): Promise<readonly ChatMessage[]> {
  const found = (await host.prompts({ signal })).find((prompt) => prompt.name === name);
  if (!found) {
    screen.print(screen.style('yellow', `There is no command or prompt "/${cleanLine(name)}": see /help and /prompts`));
    return [];
  }
  const args = await askArguments(found, words, host, screen, signal);
  if (!args) return [];
  const { messages } = await host.getPrompt(name, args, { signal });
  const said = messages.map(({ role, content }) => ({ role, content: blockText(content) }));
  for (const { role, content } of said) screen.print(screen.style('dim', cleanBlock(`${role}: ${content}`)));
  return said;
}

/** Reads arguments such as `city=Paris`, and asks for those that are missing; the Tab key completes what the server can complete. */
async function askArguments(
  { server, prompt }: HostPrompt,
  words: readonly string[],
  host: Host,
  screen: Screen,
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const given = new Map(words.map((word) => [word.split('=', 1)[0] ?? '', word.slice(word.indexOf('=') + 1)]));
  const args: Record<string, string> = {};
  for (const { name, required } of prompt.arguments ?? []) {
    const complete = async (value: string): Promise<readonly string[]> => {
      const params = {
        ref: { type: 'ref/prompt', name: prompt.name },
        argument: { name, value },
        context: { arguments: { ...args } },
      } as const;
      return (await host.complete(server, params, { signal })).completion.values;
    };
    const text =
      given.get(name) ?? (await screen.ask(`  ${cleanLine(name)}${required === true ? '' : ' [leave out]'}: `, { signal, complete }));
    if (text === undefined) return undefined;
    if (text !== '') args[name] = text;
  }
  return args;
}
