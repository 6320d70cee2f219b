/** The terminal: prints lines above what the user types, and asks one question at a time. */

import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** Returns what the word before the cursor may become. */
export type Complete = (line: string) => readonly string[] | Promise<readonly string[]>;

export interface QuestionOptions {
  /** Printed above the question when it is its turn. Already clean. */
  readonly lines?: readonly string[];
  /** For the Tab key. */
  readonly complete?: Complete | undefined;
  /** Whether the answer is not shown. */
  readonly isSecret?: boolean;
  /** Takes the question back. */
  readonly signal?: AbortSignal | undefined;
}

interface Question extends QuestionOptions {
  readonly text: () => string;
  /** The chat's own prompt: it waits behind every other question, and keeps what the user has typed so far. */
  readonly isPrompt: boolean;
  readonly settle: (answer: string | undefined) => void;
  draft: string;
}

export class Screen {
  /** Called for Ctrl-C. */
  onInterrupt: () => void = () => undefined;
  readonly #output: WriteStream;
  readonly #lines: Interface;
  readonly #questions: Question[] = [];
  readonly #usesColor: boolean;
  #shown: Question | undefined;
  #echoes = false;
  #isMidLine = false;
  #status = '';
  /** What was streamed while a question was open. */
  #held = '';
  #isClosed = false;

  constructor(input: ReadStream, output: WriteStream, env: Readonly<Record<string, string | undefined>>) {
    this.#output = output;
    this.#usesColor = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    this.#lines = createInterface({
      input,
      output: this.#createEcho(),
      terminal: true,
      completer: (line: string, done: (error: Error | null, result: [string[], string]) => void) =>
        void this.#complete(line).then(
          (words) => done(null, words),
          () => done(null, [[], line]),
        ),
    });
    this.#lines.on('line', (line) => this.#shown && this.#settle(this.#shown, line));
    // The arrow keys bring back lines of the chat, and no answers, which may be secret.
    this.#lines.on('history', (history: string[]) => void (this.isIdle || history.shift()));
    this.#lines.on('SIGINT', () => this.onInterrupt());
    this.#lines.on('close', () => this.close());
  }

  /** Whether the user waits for nothing: the chat's own prompt is shown. */
  get isIdle(): boolean {
    return this.#shown?.isPrompt === true;
  }

  style(style: Style, text: string): string {
    return this.#usesColor ? styleText(style, text) : text;
  }

  /** Prints lines above what the user types. The text must be clean. */
  print(text: string): void {
    if (this.#isClosed) return;
    this.#eraseInput();
    this.#output.write(`${this.#endLine()}${text}\n`);
    this.#drawInput();
  }

  /** Prints a part of a line, as a model streams it. The text must be clean. */
  write(text: string): void {
    if (this.#isClosed || text === '') return;
    if (this.#shown) {
      this.#held += text;
      return;
    }
    this.#output.write(this.#clearStatus() + text);
    this.#isMidLine = !text.endsWith('\n');
  }

  /** Shows a line that the next output replaces. The text must be clean. */
  status(text: string): void {
    if (this.#isClosed || this.#shown) return;
    const line = text.slice(0, this.#output.columns - 1);
    this.#output.write(`${this.#endLine()}${line}`);
    this.#status = line;
  }

  /** Asks a question. Others wait until it is answered. @returns undefined if it was taken back, or the input has ended. */
  ask(text: string, options: QuestionOptions = {}): Promise<string | undefined> {
    return this.#add(() => text, false, options);
  }

  /** Reads the next line of the chat. @param text Called each time the prompt is drawn. */
  readLine(text: () => string, complete: Complete): Promise<string | undefined> {
    return this.#add(text, true, { complete });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const question of this.#questions.splice(0)) question.settle(undefined);
    this.#lines.close();
  }

  // ---- questions

  #add(text: () => string, isPrompt: boolean, options: QuestionOptions): Promise<string | undefined> {
    const { signal } = options;
    if (this.#isClosed || signal?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const onAbort = (): void => this.#settle(question, undefined);
      const settle = (answer: string | undefined): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      const question: Question = { ...options, text, isPrompt, settle, draft: '' };
      signal?.addEventListener('abort', onAbort);
      this.#questions.push(question);
      this.#showNext();
    });
  }

  #settle(question: Question, answer: string | undefined): void {
    const at = this.#questions.indexOf(question);
    if (at < 0) return;
    this.#questions.splice(at, 1);
    if (this.#shown === question) {
      if (answer === undefined || question.isSecret === true) this.#output.write('\n');
      this.#hide();
    }
    question.settle(answer);
    // The one who asked may have a further question, which comes first.
    setImmediate(() => this.#showNext());
  }

  #showNext(): void {
    const next = this.#questions.find(({ isPrompt }) => !isPrompt) ?? this.#questions[0];
    const isShown = this.#shown && (!this.#shown.isPrompt || next === this.#shown);
    if (this.#isClosed || !next || isShown) return;
    if (this.#shown) {
      this.#eraseInput();
      this.#shown.draft = this.#lines.line;
      this.#hide();
    }
    // What was typed before the question was seen is no answer to it.
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    const lines = next.lines ?? [];
    this.#output.write(this.#endLine() + lines.map((line) => `${line}\n`).join(''));
    this.#shown = next;
    this.#drawInput();
    if (next.draft !== '') this.#lines.write(next.draft);
  }

  #hide(): void {
    this.#shown = undefined;
    this.#echoes = false;
    const held = this.#held;
    this.#held = '';
    this.write(held);
  }

  async #complete(line: string): Promise<[string[], string]> {
    const word = /\S*$/.exec(line)?.[0] ?? '';
    const words = (await this.#shown?.complete?.(line)) ?? [];
    return [[...words], word];
  }

  // ---- drawing

  /** The stream that readline draws what the user types on: silent while no question is open. */
  #createEcho(): Writable {
    const output = this.#output;
    const isOn = (): boolean => this.#echoes;
    const echo = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        if (isOn()) output.write(chunk);
        done();
      },
    });
    Object.defineProperty(echo, 'columns', { get: () => output.columns });
    output.on('resize', () => echo.emit('resize'));
    return echo;
  }

  #eraseInput(): void {
    if (!this.#shown) return;
    cursorTo(this.#output, 0);
    moveCursor(this.#output, 0, -this.#lines.getCursorPos().rows);
    clearScreenDown(this.#output);
  }

  #drawInput(): void {
    if (!this.#shown) return;
    this.#echoes = true;
    this.#lines.setPrompt(this.#shown.text());
    this.#lines.prompt(true);
    this.#echoes = this.#shown.isSecret !== true;
  }

  #endLine(): string {
    const end = this.#isMidLine ? '\n' : '';
    this.#isMidLine = false;
    return this.#clearStatus() + end;
  }

  #clearStatus(): string {
    if (this.#status === '') return '';
    this.#status = '';
    return '\r\u001b[2K';
  }
}
