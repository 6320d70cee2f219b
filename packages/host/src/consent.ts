/** Consent before a tool runs: what a policy sees, and ready policies. A policy that asks every time is the program's own function. */

import { type ToolHints } from '@mortise/client/host';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import type { Tool } from '@mortise/protocol/model';
import { ToolRefusedError } from './errors.ts';

/** A tool call that the model wants. Show the user all of it: text from the server as plain text, never as markup. */
export interface ToolUse {
  /** The program's name for the server. */
  readonly server: string;
  /** Whether the program trusts the server (`isTrusted` of its entry in `servers`). */
  readonly isTrusted: boolean;
  /** The name under which the model knows the tool. */
  readonly name: string;
  /** The tool as the server lists it. */
  readonly tool: Tool;
  /** The arguments that are sent to the server if the policy allows it. */
  readonly arguments: JsonObject;
  /** The tool's hints. Those of a server that is not trusted are ignored: then they are the most cautious ones. */
  readonly hints: ToolHints;
  /** The digest of the tool's description, schemas and hints. */
  readonly digest: string;
  /** Whether the tool's description, schemas or hints have changed since it was last allowed. */
  readonly isChanged: boolean;
  /** Aborts when the call is cancelled: the user need not decide any more. */
  readonly signal: AbortSignal;
}

/** Decides whether a tool is called. May ask the user. May throw, which refuses the call with that error. */
export type ToolPolicy = (use: ToolUse) => boolean | Promise<boolean>;

/**
 * The user's decision: `true` or `false` for this call alone, or one to remember. A remembered `allow: false` refuses later calls without a
 * question.
 */
export type Consent = boolean | { readonly allow: boolean; readonly remember: ConsentScope };

/**
 * What a remembered decision applies to: this `tool`, every tool of this `server`, or this tool with `arguments` of this shape (the names and
 * types of their members, whatever their values).
 */
export type ConsentScope = 'tool' | 'server' | 'arguments';

/** Keeps texts by key. A `Map` is one that lasts as long as the program; `lockFile` of `@mortise/host/node` keeps them in a file. */
export interface ToolLock {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, value: string): unknown;
}

/**
 * A policy that asks the user, and keeps the decisions to remember (see `Consent`) in `memory`. A refused call rejects with
 * `ERR_TOOL_REFUSED`.
 *
 * A decision for a tool is remembered for the tool as it was then: if it changes, the user is asked again. One for a `server` goes by the
 * program's name for the server, and counts for tools that it gets later.
 *
 * @param ask Asks the user. Called for one tool at a time, however many a model calls at once. A server may ask the user at the same time
 *   (`HostOptions.elicitation`): a program with one terminal or dialog has to queue the two.
 * @param memory Where decisions are kept, such as a `lockFile`. To forget decisions, clear your own `Map`, or end the program and delete the
 *   file. @default memory of the process
 */
export function rememberConsent(ask: (use: ToolUse) => Consent | Promise<Consent>, memory: ToolLock = new Map()): ToolPolicy {
  let before: Promise<unknown> = Promise.resolve();
  const recall = async (use: ToolUse): Promise<boolean | undefined> => {
    // The keys of the first two have the tool's digest; a decision for the server was made before the tool changed.
    for (const scope of use.isChanged ? (['arguments', 'tool'] as const) : (['arguments', 'tool', 'server'] as const)) {
      const known = await memory.get(keyOf(scope, use));
      if (known !== undefined) return known === 'allow';
    }
    return undefined;
  };
  const decide = async (use: ToolUse): Promise<boolean> => {
    use.signal.throwIfAborted();
    const known = await recall(use);
    if (known !== undefined) return known;
    const consent = await ask(use);
    if (typeof consent === 'boolean') return consent;
    await memory.set(keyOf(consent.remember, use), consent.allow ? 'allow' : 'deny');
    return consent.allow;
  };
  return async (use) => {
    const known = await recall(use);
    if (known !== undefined) return known;
    // A question of a call that was cancelled is over, whatever the program's function does.
    const decided = before.then(() => abortable(decide(use), use.signal));
    before = decided.catch(() => undefined);
    return decided;
  };
}

/**
 * A policy that allows the tools of a list, and no others.
 *
 * @param names Names as the model knows them; `server__*` stands for all tools of a server.
 * @param otherwise The policy for all other tools, and for those of the list that have changed. @default refuses them
 * @throws {ToolRefusedError} `ERR_TOOL_CHANGED`: a tool of the list has changed, and there is no `otherwise`.
 */
export function allowTools(names: readonly string[], otherwise?: ToolPolicy): ToolPolicy {
  return (use) => {
    const isListed = isIn(names, use.name);
    if (isListed && !use.isChanged) return true;
    if (otherwise) return otherwise(use);
    if (!isListed) return false;
    throw changedError(use.name, `the tool "${use.name}" is allowed, but has changed since it was first called: allow it again`);
  };
}

/**
 * A policy that refuses the tools of a list, and leaves the others to another policy.
 *
 * @param names As those of `allowTools`; also the program's name of the server and the server's own name of the tool.
 */
export function denyTools(names: readonly string[], otherwise: ToolPolicy): ToolPolicy {
  return (use) => !isIn(names, use.name) && !isIn(names, `${use.server}__${use.tool.name}`) && otherwise(use);
}

/** A policy that allows tools of trusted servers with the hint `readOnlyHint`, unless they changed. Others are left to another policy. */
export function allowReadOnly(otherwise: ToolPolicy): ToolPolicy {
  return (use) => (use.hints.isReadOnly && !use.isChanged) || otherwise(use);
}

export function changedError(tool: string, message: string): ToolRefusedError {
  return new ToolRefusedError('ERR_TOOL_CHANGED', tool, message);
}

function isIn(names: readonly string[], name: string): boolean {
  return names.some((listed) => listed === name || (listed.endsWith('__*') && name.startsWith(listed.slice(0, -1))));
}

/** The digest is part of the key: a decision about a tool does not count for what the tool became. */
function keyOf(scope: ConsentScope, { server, digest, arguments: args }: ToolUse): string {
  if (scope === 'server') return JSON.stringify([server]);
  return JSON.stringify(scope === 'tool' ? [server, digest] : [server, digest, toCanonicalJson(shapeOf(args))]);
}

/** Returns a value with each number, text and truth value replaced by the name of its type, and a list by the different shapes in it. */
function shapeOf(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) {
    const shapes = new Map(value.map(shapeOf).map((shape) => [toCanonicalJson(shape), shape]));
    return [...shapes.keys()].sort().map((key) => shapes.get(key) ?? null);
  }
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
  return value === null ? 'null' : typeof value;
}
