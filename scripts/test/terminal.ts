/** A program in a real terminal: tmux draws its screen, and types into it. */

import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, onTestFinished, vi } from 'vitest';

const run = promisify(execFile);

export const hasTmux: boolean = spawnSync('tmux', ['-V']).status === 0;

export class Terminal {
  readonly #socket: string;
  /** How far the screen, with all that has left it at the top, has been read. */
  #read = 0;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** Starts a program, which ends with the test. */
  static async open(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Terminal> {
    const terminal = new Terminal(`mortise-${randomUUID()}`);
    onTestFinished(() =>
      terminal.#tmux('kill-server').then(
        () => undefined,
        () => undefined,
      ),
    );
    const variables = Object.entries({ NO_COLOR: '1', LC_ALL: 'C.UTF-8', ...env }).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    // The shell stays after the program, so that its last screen and its exit code can be seen.
    await terminal.#tmux(
      '-f',
      '/dev/null',
      '-u',
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '40',
      ...variables,
      `${words}; echo "exit $?"; cat`,
    );
    return terminal;
  }

  async #tmux(...args: string[]): Promise<string> {
    return (await run('tmux', ['-L', this.#socket, ...args])).stdout;
  }

  async text(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-J', '-S', '-')).trimEnd();
  }

  /** Waits until the text is on the screen, below what was waited for before. @returns What came since then, with the text. */
  async see(wanted: string): Promise<string> {
    return vi.waitFor(
      async () => {
        const text = await this.text();
        const fresh = text.slice(this.#read);
        const at = fresh.indexOf(wanted);
        if (at < 0) expect.fail(`"${wanted}" is not on the screen:\n${fresh}`);
        const end = this.#read + at + wanted.length;
        // The last line may be drawn anew, lower down.
        this.#read = text.indexOf('\n', end) < 0 ? text.lastIndexOf('\n') + 1 : end;
        return fresh.slice(0, at + wanted.length);
      },
      { timeout: 60_000, interval: 50 },
    );
  }

  async type(text: string): Promise<void> {
    if (text !== '') await this.#tmux('send-keys', '-l', '--', text);
  }

  /** Types an answer once the question is on the screen, and presses Enter. */
  async answer(question: string, text: string): Promise<void> {
    await this.see(question);
    await this.press(text);
  }

  /** Types a line once the program waits for one, which its last line shows, and presses Enter. */
  async enter(line: string): Promise<void> {
    await vi.waitFor(async () => expect((await this.text()).endsWith(' >')).toBe(true), { timeout: 60_000, interval: 50 });
    await this.press(line);
  }

  async press(text: string, key = 'Enter'): Promise<void> {
    await this.type(text);
    await this.#tmux('send-keys', key);
  }

  /** The processes of the program whose command line has the text. */
  async processes(text: string): Promise<readonly number[]> {
    const parents = new Map<number, number>();
    const found: number[] = [];
    for (const line of (await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='])).stdout.trim().split('\n')) {
      const [, pid = '', parent = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      parents.set(Number(pid), Number(parent));
      if (args.includes(text)) found.push(Number(pid));
    }
    const top = Number(await this.#tmux('display-message', '-p', '#{pane_pid}'));
    const isOurs = (pid: number): boolean => pid === top || (pid > 1 && isOurs(parents.get(pid) ?? 0));
    return found.filter((pid) => pid !== top && isOurs(pid));
  }
}
