/** A recording: every message between one client and one server, in order, as JSON Lines. */

import { readFileSync } from 'node:fs';
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { CliError } from '../errors.ts';
import { clean } from '../terminal.ts';

/** One line of a recording. */
export interface Entry {
  /** When the message came, in milliseconds since the recording began. */
  readonly ms: number;
  readonly from: 'client' | 'server';
  readonly message: JsonRpcMessage;
}

export const isRequest = (message: JsonRpcMessage): message is JsonRpcRequest => 'method' in message && 'id' in message;

export const isResponse = (message: JsonRpcMessage): message is JsonRpcResponse => !('method' in message);

/** A request in short: its method, and the tool, prompt or resource that it names. */
export function describeRequest({ method, params }: JsonRpcRequest): string {
  const { name, uri } = (params ?? {}) as { readonly name?: unknown; readonly uri?: unknown };
  return [method, name, uri].filter((part) => typeof part === 'string').join(' ');
}

/** Reads a recording. @throws {CliError} The file cannot be read, or a line of it is no entry. */
export function readRecording(path: string): readonly Entry[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`The recording ${clean(path)} cannot be read`, undefined, { cause: error });
  }
  const lines = text.split('\n');
  // A recording that ended with a full disk or a power cut ends within a line.
  if (!isJson(lines.at(-1))) lines.pop();
  const entries = lines.flatMap((line, index) => (line.trim() === '' ? [] : [readEntry(line, `${clean(path)}:${index + 1}`)]));
  if (entries.length === 0) throw new CliError(`The recording ${clean(path)} holds no message`);
  return entries;
}

function isJson(text = ''): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readEntry(line: string, where: string): Entry {
  try {
    const entry = JSON.parse(line) as Entry;
    const isMessage = typeof entry.message === 'object' && entry.message.jsonrpc === '2.0';
    if (isMessage && (entry.from === 'client' || entry.from === 'server')) return entry;
  } catch {
    // Said below.
  }
  throw new CliError(`${where} is not a line of a recording, such as {"ms": 0, "from": "client", "message": {"jsonrpc": "2.0", ...}}`);
}
