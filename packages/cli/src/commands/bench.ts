/** `mortise bench`: calls one tool again and again, and says how many calls a second the server answers, and how fast. */

import type { McpClient } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Tool } from '@mortise/protocol/model';
import type { Command } from 'commander';
import { CliError, ExitCode, toMessage } from '../errors.ts';
import { addServerCommand, type ServerCommandOptions, toCount, toPositive, useServer } from '../server-command.ts';
import { clean, cleanLine, type Terminal } from '../terminal.ts';
import { describeArguments, missingArguments, toArguments } from '../tool-arguments.ts';
import { findTool } from './call.ts';

interface BenchOptions extends ServerCommandOptions {
  /** In seconds. */
  readonly duration: number;
  readonly connections: number;
}

interface Measured {
  readonly latenciesMs: number[];
  readonly errors: Map<string, number>;
  /** How long it took until the last call was answered. */
  seconds: number;
}

export function addBench(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'bench <tool> [arguments...]', 'Call a tool again and again: calls a second, latency and errors')
    .option('-d, --duration <seconds>', 'how long to measure', toPositive, 10)
    .option('-c, --connections <count>', 'how many calls are in flight at once', toCount, 8)
    .action((server: string, name: string, words: readonly string[], options: BenchOptions) =>
      useServer(terminal, server, options, async ({ client }) => {
        const tool = await findTool(client, name);
        const args = toArguments(tool, words, terminal.io.cwd);
        checkComplete(tool, args);
        await client.callTool(tool.name, args, { signal: terminal.io.signal });
        report(await measure(client, tool.name, args, options, terminal), options, terminal);
      }),
    );
}

function checkComplete(tool: Tool, args: JsonObject): void {
  const [missing] = missingArguments(tool, args);
  if (missing === undefined) return;
  throw new CliError(`argument "${cleanLine(missing)}" is missing: ${cleanLine(`${tool.name}(${describeArguments(tool)})`)}`);
}

async function measure(client: McpClient, tool: string, args: JsonObject, options: BenchOptions, terminal: Terminal): Promise<Measured> {
  const { signal } = terminal.io;
  const measured: Measured = { latenciesMs: [], errors: new Map(), seconds: 0 };
  const startMs = performance.now();
  const endMs = startMs + options.duration * 1000;
  let shownMs = startMs;
  const callUntilEnd = async (): Promise<void> => {
    for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
      signal?.throwIfAborted();
      await callOnce(client, tool, args, measured, signal);
      if (nowMs - shownMs < 100) continue;
      shownMs = nowMs;
      const share = (nowMs - startMs) / (endMs - startMs);
      terminal.status(`${Math.floor(share * 100)} % · ${measured.latenciesMs.length} calls`);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, callUntilEnd));
  measured.seconds = (performance.now() - startMs) / 1000;
  return measured;
}

/** Error messages often contain an id or a time: at most this many different ones are listed, each cut to this many characters. */
const MAX_KINDS = 20;
const MAX_MESSAGE = 200;

async function callOnce(
  client: McpClient,
  tool: string,
  args: JsonObject,
  { latenciesMs, errors }: Measured,
  signal?: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  try {
    const { isError } = await client.callTool(tool, args, { signal });
    latenciesMs.push(performance.now() - startMs);
    if (isError === true) errors.set('the tool failed', (errors.get('the tool failed') ?? 0) + 1);
  } catch (error) {
    signal?.throwIfAborted();
    // A lost connection fails at once, so a loop over it would never yield.
    if (!client.isConnected) throw error;
    const full = toMessage(error).slice(0, MAX_MESSAGE);
    const message = errors.has(full) || errors.size < MAX_KINDS ? full : 'other errors';
    errors.set(message, (errors.get(message) ?? 0) + 1);
  }
}

function report({ latenciesMs, errors, seconds }: Measured, { connections }: BenchOptions, terminal: Terminal): void {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const at = (share: number): number => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  const errorCount = [...errors.values()].reduce((sum, count) => sum + count, 0);
  if (errorCount > 0) terminal.exitCode = ExitCode.failed;
  const latencyMs = { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
  const callsPerSecond = round(sorted.length / seconds);
  if (terminal.isJson) {
    const found = {
      calls: sorted.length,
      callsPerSecond,
      latencyMs,
      errors: Object.fromEntries(errors),
      connections,
      durationSeconds: round(seconds),
    };
    return terminal.printJson(found);
  }
  terminal.print(`${terminal.style('bold', String(callsPerSecond))} calls a second (${sorted.length} calls, ${connections} at once)`);
  if (sorted.length > 0)
    terminal.print(
      `latency: half within ${latencyMs.p50} ms, 90 % ${latencyMs.p90} ms, 99 % ${latencyMs.p99} ms, slowest ${latencyMs.max} ms`,
    );
  for (const [message, count] of errors) terminal.print(terminal.style('red', `${count} × ${clean(message)}`));
}

const round = (value: number): number => Math.round(value * 100) / 100;
