/** `Terminal`: all that a command prints and asks. Nothing that a server sent reaches the screen unescaped. */

import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeUnseen } from '@mortise/client/host';
import { ExitCode } from './errors.ts';

/** Makes text of a server safe to print. */
export const clean: (text: string) => string = escapeUnseen;

/** The same on one line: the next one would look like a line of ours. */
export const cleanLine = (text: string): string => clean(text).replaceAll('\n', '\\n');

/** The streams and the environment that a command uses. */
export interface CliIo {
  /** The standard input: answers to questions, and messages of `run` over stdio. */
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The standard output: results. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** The standard error: questions, progress and errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  /** Aborts the command, as Ctrl-C does. */
  readonly signal?: AbortSignal | undefined;
  /** Aborts `signal`: called where Ctrl-C is typed at a question, which reaches no handler of signals. */
  readonly interrupt?: (() => void) | undefined;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export class Terminal {
  readonly io: CliIo;
  /** Whether the output is one JSON document for a program, and no text for a person. */
  isJson = false;
  /** Whether to show what the server writes to its error output, and its log messages. */
  isVerbose = false;
  /** The exit code of a command that ends without an error. */
  exitCode: number = ExitCode.ok;
  readonly #stylesOut: boolean;
  readonly #stylesErr: boolean;
  #status = '';

  constructor(io: CliIo) {
    this.io = io;
    this.#stylesOut = usesColor(io.stdout, io.env);
    this.#stylesErr = usesColor(io.stderr, io.env);
  }

  /** Whether a person can answer questions. */
  get isInteractive(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true && !this.isJson;
  }

  /** Prints a line of the command's result. The text must be clean; styles may be in it. */
  print(line = ''): void {
    this.#clearStatus();
    this.io.stdout.write(`${line}\n`);
  }

  /** Prints a value as JSON: one document, indented. @param isLine On one line, for output that is a line an event. */
  printJson(value: unknown, isLine = false): void {
    this.#clearStatus();
    this.io.stdout.write(`${clean(JSON.stringify(value, null, isLine ? undefined : 2))}\n`);
  }

  /** Prints a line beside the result, to the error output. */
  note(line: string): void {
    this.#clearStatus();
    this.io.stderr.write(`${line}\n`);
  }

  /** Shows a line that the next one replaces, such as progress. Shows nothing where no person watches. */
  status(line: string): void {
    if (this.io.stderr.isTTY !== true || this.isJson) return;
    const width = this.io.stderr.columns ?? 80;
    this.#clearStatus();
    this.#status = line.length >= width ? line.slice(0, width - 1) : line;
    this.io.stderr.write(this.#status);
  }

  /** Styles text of the result. */
  style(style: Style, text: string): string {
    return this.#stylesOut ? styleText(style, text) : text;
  }

  /** Styles text of a note. */
  styleNote(style: Style, text: string): string {
    return this.#stylesErr ? styleText(style, text) : text;
  }

  /** Asks the user one question. @returns undefined if the input has ended, or no person is there to answer. */
  async ask(question: string): Promise<string | undefined> {
    if (!this.isInteractive) return undefined;
    this.#clearStatus();
    const lines = createInterface({ input: this.io.stdin, output: this.io.stderr, terminal: true });
    lines.once('SIGINT', () => {
      this.io.interrupt?.();
      lines.close();
    });
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    try {
      return await Promise.race([lines.question(question, this.io.signal ? { signal: this.io.signal } : {}), ended]);
    } finally {
      lines.close();
    }
  }

  end(): void {
    this.#clearStatus();
  }

  #clearStatus(): void {
    if (this.#status === '') return;
    this.#status = '';
    this.io.stderr.write('\r\u001b[2K');
  }
}

function usesColor(stream: { readonly isTTY?: boolean }, env: CliIo['env']): boolean {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0') return true;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}
