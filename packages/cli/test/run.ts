/** Runs a command line of `mortise` in this process, and collects what it prints. */

import { PassThrough } from 'node:stream';
import { runCli } from '@mortise/cli';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called with all that was printed so far, each time that more is printed. */
  readonly onOutput?: (out: string) => void;
}

export async function run(args: readonly string[], { cwd = process.cwd(), env = {}, signal, onOutput }: RunOptions = {}): Promise<Ran> {
  const texts = { out: '', err: '' };
  const collect = (to: 'out' | 'err'): PassThrough =>
    new PassThrough().on('data', (chunk: Buffer) => {
      texts[to] += chunk.toString();
      onOutput?.(texts.out + texts.err);
    });
  const code = await runCli(args, { stdin: new PassThrough(), stdout: collect('out'), stderr: collect('err'), env, cwd, signal });
  return { code, ...texts };
}
