/** Runs: requests that the user made, kept with their results so that they can be looked at and made again. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { signal, type Signal } from '@preact/signals';
import { ask } from './link.ts';
import type { ServerModel } from './state.ts';
import { messageOf } from './text.ts';

export interface RunOutcome {
  readonly status: 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress?: { readonly progress: number; readonly total: number | undefined; readonly message: string | undefined } | undefined;
  readonly result?: JsonObject | undefined;
  /** What is wrong with the result, though the server sent one. */
  readonly problem?: string | undefined;
  readonly error?: string | undefined;
  /** How long the result is as JSON, in characters. */
  readonly length?: number | undefined;
  /** The task that the call became. */
  readonly task?: string | undefined;
  readonly tookMs?: number | undefined;
}

export interface Run {
  readonly id: number;
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read';
  /** The tool, prompt or URI. */
  readonly name: string;
  readonly params: JsonObject;
  readonly timeMs: number;
  readonly outcome: Signal<RunOutcome>;
  cancel(): void;
}

const MAX_RUNS = 200;
/** How many characters the results of a server's runs may have together as JSON; the oldest are dropped first. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
let last = 0;

/** Makes a request and keeps it as the newest run. */
export function startRun(server: ServerModel, method: Run['method'], name: string, params: JsonObject, asTask = false): Run {
  const cancelling = new AbortController();
  const outcome = signal<RunOutcome>({ status: 'running' });
  const run: Run = {
    id: ++last,
    method,
    name,
    params,
    timeMs: Date.now(),
    outcome,
    cancel: () => cancelling.abort(new Error('The user cancelled the request')),
  };
  server.runs.value = [run, ...server.runs.value].slice(0, MAX_RUNS);
  void finish(server, run, cancelling.signal, asTask);
  return run;
}

async function finish(server: ServerModel, { method, params, outcome }: Run, signal: AbortSignal, asTask: boolean): Promise<void> {
  const startMs = performance.now();
  const end = (facts: RunOutcome): void => void (outcome.value = { ...outcome.value, ...facts, tookMs: performance.now() - startMs });
  try {
    if (asTask) {
      const { name = '', arguments: args = {} } = params as { readonly name?: string; readonly arguments?: JsonObject };
      const { task, result } = await ask('startTask', { server: server.id, tool: name, args }, { signal });
      return end({ status: 'done', task, result });
    }
    const onProgress = ({ progress, total, message }: JsonObject): void => {
      const facts = { progress: Number(progress), total: total === undefined ? undefined : Number(total) };
      outcome.value = { ...outcome.value, progress: { ...facts, message: message === undefined ? undefined : String(message) } };
    };
    const { result, problem } = await ask('request', { server: server.id, method, params }, { signal, onProgress });
    end({ status: result['isError'] === true ? 'failed' : 'done', result, problem, length: JSON.stringify(result).length });
    dropResults(server);
  } catch (error) {
    end(signal.aborted ? { status: 'cancelled' } : { status: 'failed', error: messageOf(error) });
  }
}

/** Newest first, as many results stay as fit. */
function dropResults(server: ServerModel): void {
  let characters = 0;
  for (const { outcome } of server.runs.value) {
    characters += outcome.value.length ?? 0;
    if (characters <= MAX_CHARACTERS || outcome.value.result === undefined) continue;
    outcome.value = { ...outcome.value, result: undefined, problem: 'This result was dropped to make room for later ones: run it again' };
  }
}
