/** The conversation: what the user says, what the model answers, and the tools that it calls in between. */

import type { Host } from '@mortise/host';
import { answerChatCalls, type AnswerCallsOptions, type ChatAnswer, chatTools, type ChatToolCall } from '@mortise/host/openai';
import { attachResources } from './attach.ts';
import { clean, cleanBlock, cleanLine } from './clean.ts';
import { COMMANDS, runCommand } from './commands.ts';
import type { ChatMessage, Model } from './model.ts';
import { limited } from './results.ts';
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
      const tools = await chatTools(this.#host, { signal });
      const onText = (text: string): void => this.#screen.write(clean(text));
      const message = await this.#model.answer({ messages: this.#messages, tools, signal, onText });
      if (message.content !== '') this.#screen.write('\n');
      this.#messages.push(message);
      if (!message.tool_calls) return;
      const answers: ChatAnswer[] = [];
      for (const call of message.tool_calls) answers.push(...(await this.#call(call, signal)));
      // Images come in messages of the user, which follow the answers to all calls.
      this.#messages.push(...answers.filter(({ role }) => role === 'tool'), ...answers.filter(({ role }) => role === 'user'));
    }
    throw new Error(`the model called tools ${MAX_ROUNDS} times without an answer`);
  }

  /** Makes one call. @returns What the model gets; the user sees its text, too. */
  async #call(call: ChatToolCall, signal: AbortSignal): Promise<readonly ChatAnswer[]> {
    const onProgress: AnswerCallsOptions['onProgress'] = ({ progress, total, message = '' }) =>
      this.#screen.status(`  … ${progress}${total === undefined ? '' : `/${total}`} ${cleanLine(message)}`);
    const answers = await answerChatCalls(this.#host, [call], { signal, onProgress });
    return answers.map((answer) => {
      if (answer.role !== 'tool') return answer;
      const content = limited(answer.content);
      const mark = content.startsWith('Error: ') ? this.#screen.style('red', '✗') : this.#screen.style('green', '✓');
      this.#screen.print(`${mark} ${cleanLine(call.function?.name ?? '')}\n${this.#screen.style('dim', cleanBlock(content))}`);
      return { ...answer, content };
    });
  }
}
