/** The conversation: what the user says, what the model answers, and the tools that it calls in between. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Host } from '@mortise/host';
import { attachResources } from './attach.ts';
import { clean, cleanBlock, cleanLine } from './clean.ts';
import { COMMANDS, runCommand } from './commands.ts';
import type { ChatMessage, Model, ToolRequest } from './model.ts';
import { toolResultText } from './results.ts';
import type { Screen } from './screen.ts';

/** How often the model may call tools before the user is asked again. */
const MAX_ROUNDS = 25;

export class Chat {
  readonly #host: Host;
  readonly #screen: Screen;
  readonly #model: Model;
  readonly #messages: ChatMessage[] = [];
  #turn: AbortController | undefined;

  constructor(host: Host, screen: Screen, model: Model) {
    this.#host = host;
    this.#screen = screen;
    this.#model = model;
    screen.onInterrupt = () => (this.#turn ? this.#turn.abort(new Error('you stopped it')) : screen.close());
  }

  /** Reads lines until the user ends the chat. */
  async run(): Promise<void> {
    for (;;) {
      const line = await this.#screen.readLine(
        () => this.#prompt(),
        (typed) => this.#complete(typed),
      );
      if (line === undefined || line.trim() === '/quit') return;
      if (line.trim() !== '') await this.#take(line.trim());
    }
  }

  #prompt(): string {
    const states = [...this.#host.states.values()];
    const ready = states.filter(({ status }) => status === 'ready').length;
    return `${this.#screen.style('dim', `${ready}/${states.length}`)} ${this.#screen.style('bold', '>')} `;
  }

  async #complete(typed: string): Promise<readonly string[]> {
    if (!/^\/\S*$/.test(typed)) return [];
    const prompts = (await this.#host.prompts({ waitMs: 0 })).map(({ name }) => `/${name}`);
    return [...COMMANDS, ...prompts].filter((word) => word.startsWith(typed));
  }

  /** Takes one line. What fails or is stopped leaves the conversation as it was before the line. */
  async #take(line: string): Promise<void> {
    const turn = new AbortController();
    const before = this.#messages.length;
    this.#turn = turn;
    try {
      const added = line.startsWith('/')
        ? await runCommand(line, this.#host, this.#screen, turn.signal)
        : await this.#read(line, turn.signal);
      this.#messages.push(...added);
      if (added.length > 0) await this.#answer(turn.signal);
    } catch (error) {
      this.#messages.length = before;
      this.#screen.print(this.#screen.style('red', `✗ ${cleanLine((error as Error).message, 600)}`));
    } finally {
      this.#turn = undefined;
    }
  }

  async #read(line: string, signal: AbortSignal): Promise<readonly ChatMessage[]> {
    const content = await attachResources(line, this.#host, this.#screen, signal);
    return content === undefined ? [] : [{ role: 'user', content }];
  }

  async #answer(signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const tools = (await this.#host.tools({ signal })).map(({ name, tool: { description, inputSchema } }) => ({
        name,
        description,
        inputSchema: inputSchema as JsonObject,
      }));
      const onText = (text: string): void => this.#screen.write(clean(text));
      const { text, calls } = await this.#model.answer({ messages: this.#messages, tools, signal, onText });
      if (text !== '') this.#screen.write('\n');
      this.#messages.push({ role: 'assistant', content: text, calls });
      if (calls.length === 0) return;
      for (const call of calls) this.#messages.push({ role: 'tool', callId: call.id, content: await this.#call(call, signal) });
    }
    throw new Error(`the model called tools ${MAX_ROUNDS} times without an answer`);
  }

  /** Calls a tool. @returns What the model gets; the user sees it, too. */
  async #call(call: ToolRequest, signal: AbortSignal): Promise<string> {
    try {
      const args: unknown = JSON.parse(call.arguments || '{}');
      if (!isJsonObject(args)) throw new TypeError('the arguments of a tool call must be a JSON object');
      const onProgress = ({
        progress,
        total,
        message = '',
      }: {
        progress: number;
        total?: number | undefined;
        message?: string | undefined;
      }): void => this.#screen.status(`  … ${progress}${total === undefined ? '' : `/${total}`} ${cleanLine(message)}`);
      const result = await this.#host.callTool(call.name, args, { signal, onProgress });
      const text = toolResultText(result);
      const mark = result.isError === true ? this.#screen.style('red', '✗') : this.#screen.style('green', '✓');
      this.#screen.print(`${mark} ${cleanLine(call.name)}\n${this.#screen.style('dim', cleanBlock(text))}`);
      return result.isError === true ? `The tool failed: ${text}` : text;
    } catch (error) {
      signal.throwIfAborted();
      const { message } = error as Error;
      this.#screen.print(this.#screen.style('red', `✗ ${cleanLine(message, 600)}`));
      return `The tool was not run, or did not end: ${message}`;
    }
  }
}
