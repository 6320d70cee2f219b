/** Reads what a server says on standard error, always, so that it is never held up, and keeps no more than the last lines. */

import type { Readable } from 'node:stream';

const MAX_KEPT_LINES = 20;
const MAX_LINE_LENGTH = 4096;

/** The lines of one stream of text. Bytes that are not UTF-8 become U+FFFD; a line longer than 4,096 characters is cut into several. */
export class StderrLines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #kept: string[] = [];
  #rest = '';

  /** @param onLine Called with each line without its end. May throw, which is ignored. */
  constructor(stream: Readable, onLine?: (line: string) => void) {
    this.#onLine = onLine;
    stream.on('data', (chunk: Uint8Array) => this.#push(this.#decoder.decode(chunk, { stream: true })));
    stream.on('close', () => this.#end());
    // A pipe that breaks has said all that it will say.
    stream.on('error', () => undefined);
  }

  /** The last lines, at most 20, an unfinished one included. */
  get last(): readonly string[] {
    return this.#rest === '' ? [...this.#kept] : [...this.#kept, this.#rest].slice(-MAX_KEPT_LINES);
  }

  #push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#tell(line.endsWith('\r') ? line.slice(0, -1) : line);
    while (this.#rest.length > MAX_LINE_LENGTH) {
      this.#tell(this.#rest.slice(0, MAX_LINE_LENGTH));
      this.#rest = this.#rest.slice(MAX_LINE_LENGTH);
    }
  }

  #end(): void {
    if (this.#rest !== '') this.#tell(this.#rest);
    this.#rest = '';
  }

  #tell(line: string): void {
    this.#kept.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.#kept.length > MAX_KEPT_LINES) this.#kept.shift();
    try {
      this.#onLine?.(line);
    } catch {
      // What listens to a log must not disturb the connection.
    }
  }
}
