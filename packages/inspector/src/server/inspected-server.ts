/** `InspectedServer`: one connected server with our client, and all that the inspector keeps of it. */

import { McpClient, ToolResultError } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { toError } from '@mortise/jsonrpc-core/transport';
import type { CallToolRequestParams, CreateMessageResult, ElicitResult, Progress } from '@mortise/protocol/model';
import type { LoggingLevel, Root } from '@mortise/protocol';
import { type TaskClient, taskClient } from '@mortise/tasks/client';
import type {
  InspectorEvent,
  InspectorRequests,
  ListName,
  LogEntry,
  ServerSnapshot,
  ServerState,
  ServerTarget,
  SignInStep,
} from '../messages.ts';
import { Asks } from './asks.ts';
import { TaskBook } from './task-book.ts';
import { nameOf, toTransport } from './to-transport.ts';
import { cut, Wire } from './wire.ts';

/** An event without the id of its server. */
type OwnEvent = InspectorEvent extends infer E ? (E extends InspectorEvent ? Omit<E, 'server'> : never) : never;
type Result<Method extends keyof InspectorRequests> = Promise<InspectorRequests[Method][1]>;

/** The most entries of one list that are read: a server could list without end. */
const MAX_LISTED = 10_000;
const MAX_LOGS = 5_000;
/** How many characters the kept log messages have together. */
const MAX_LOG_CHARACTERS = 16 * 1024 * 1024;
const MAX_STEPS = 200;
const MAX_LOG_LENGTH = 65_536;
const MAX_LOGGER_LENGTH = 200;
/** How long a program has for its first word, in milliseconds: `npx` may have to install it. */
const PROBE_MS = 30_000;
/** How long a call may take, in milliseconds: the user can cancel it. */
const CALL_MS = 3_600_000;

interface Opened {
  readonly client: McpClient;
  readonly tasks: TaskClient;
}

export class InspectedServer {
  readonly id: string;
  readonly target: ServerTarget;
  /** Every message to and from the server. */
  readonly wire: Wire;
  readonly #emit: (event: InspectorEvent) => void;
  readonly #asks: Asks;
  readonly #tasks: TaskBook;
  readonly #logs: LogEntry[] = [];
  readonly #steps: SignInStep[] = [];
  #lastLog = 0;
  #logCharacters = 0;
  #lastStep = 0;
  #state: ServerState;
  /** Counts calls of `open` and `close`: only the last one counts. */
  #turn = 0;
  #connection: Opened | undefined;

  constructor(id: string, target: ServerTarget, emit: (event: InspectorEvent) => void) {
    this.id = id;
    this.target = target;
    this.#emit = emit;
    this.#state = { id, name: nameOf(target), target, status: 'closed', roots: [] };
    this.wire = new Wire({
      onMessage: (message) => this.#tell({ type: 'wire', message }),
      onLoss: (loss) => this.#tell({ type: 'loss', loss }),
    });
    this.#asks = new Asks({
      onAsk: (ask) => this.#tell({ type: 'ask', ask }),
      onOver: (ask) => this.#tell({ type: 'ask over', ask }),
    });
    this.#tasks = new TaskBook((task) => this.#tell({ type: 'task', task }));
  }

  snapshot(): ServerSnapshot {
    const { messages: wire, loss } = this.wire;
    return { state: this.#state, wire, loss, logs: this.#logs, asks: this.#asks.open, tasks: this.#tasks.entries, steps: this.#steps };
  }

  /** Connects anew. Never rejects: the state says what happened. */
  async open(): Promise<void> {
    const turn = ++this.#turn;
    await this.#disconnect();
    // Another `open` or `close` came in the meantime.
    if (turn !== this.#turn) return;
    const tasks = taskClient({ onTask: (task, { tool }) => this.#tasks.follow(task, tool) });
    const client = this.#createClient(tasks);
    this.#connection = { client, tasks };
    this.#change({ status: 'connecting', reason: undefined, signInUrl: undefined });
    try {
      const source = toTransport(this.target, this.wire, {
        onStderr: (line) => this.#log('stderr', undefined, line),
        onStep: (step) => this.#step(step),
        onSignInPage: (signInUrl) => this.#change({ signInUrl }),
      });
      await client.connect(source);
      this.#listen(client);
      await client.whenListening();
      if (turn === this.#turn) this.#onReady(client);
    } catch (error) {
      if (turn === this.#turn) this.#change({ status: 'failed', reason: describe(error), signInUrl: undefined });
      await client.close();
    }
  }

  /** Closes the connection. May be called twice. */
  async close(): Promise<void> {
    this.#turn++;
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    const { client } = this.#connection ?? {};
    this.#connection = undefined;
    this.#asks.cancelAll();
    await this.#tasks.close();
    await client?.close();
    if (this.#state.status !== 'failed') this.#change({ status: 'closed', signInUrl: undefined });
  }

  #createClient(tasks: TaskClient): McpClient {
    const { era, protocolVersion } = this.target;
    const client = new McpClient(
      { name: 'mortise-inspector', version: '1.0.0' },
      {
        era,
        protocolVersion,
        probeTimeoutMs: PROBE_MS,
        requestTimeoutMs: CALL_MS,
        restart: false,
        extensions: [tasks],
        roots: () => this.#state.roots,
        elicitation: {
          form: (params, { signal }) => this.#asks.ask<ElicitResult>('form', params as JsonObject, signal),
          url: (params, { signal }) => this.#asks.ask<ElicitResult>('url', params as JsonObject, signal),
        },
        sampling: (params, { signal }) => this.#asks.ask<CreateMessageResult>('sampling', params as unknown as JsonObject, signal),
        onError: (error) => this.#log('client', undefined, describe(error)),
      },
    );
    client.onLog(({ level, logger, data }) => this.#log(level, logger, typeof data === 'string' ? data : JSON.stringify(data)));
    client.onResourceUpdated(({ uri }) => this.#tell({ type: 'resource updated', uri }));
    return client;
  }

  #onReady(client: McpClient): void {
    const { serverInfo: info, era, protocolVersion, serverCapabilities: capabilities, instructions } = client;
    this.#change({ status: 'ready', signInUrl: undefined, info, era, protocolVersion, capabilities, instructions });
    void client.closed.then(() => {
      if (this.#connection?.client === client) this.#change({ status: 'closed' });
    });
  }

  #listen(client: McpClient): void {
    const { tools, resources, prompts } = client.serverCapabilities;
    // In the modern era each callback opens a subscription.
    const hears = (part: { readonly listChanged?: boolean | undefined } | undefined): boolean =>
      client.era === 'legacy' || part?.listChanged === true;
    if (hears(tools)) client.onToolsChanged(() => this.#tell({ type: 'list changed', list: 'tools' }));
    if (hears(resources)) client.onResourcesChanged(() => this.#tell({ type: 'list changed', list: 'resources' }));
    if (hears(prompts)) client.onPromptsChanged(() => this.#tell({ type: 'list changed', list: 'prompts' }));
  }

  // ---- what the page asks for

  async list(list: ListName): Result<'list'> {
    const items: JsonObject[] = [];
    for await (const item of this.#connected.client[list]()) {
      items.push(item as unknown as JsonObject);
      if (items.length >= MAX_LISTED) return { items, isCut: true };
    }
    return { items, isCut: false };
  }

  async request(
    method: string,
    params: JsonObject,
    options: { signal: AbortSignal; onProgress: (progress: Progress) => void },
  ): Result<'request'> {
    const { client } = this.#connected;
    if (method !== 'tools/call') return { result: await client.request<string>(method, params, options) };
    try {
      return { result: (await client.callTool(params as unknown as CallToolRequestParams, options)) as unknown as JsonObject };
    } catch (error) {
      if (!(error instanceof ToolResultError)) throw error;
      return { result: error.result as unknown as JsonObject, problem: error.message };
    }
  }

  async startTask(tool: string, args: JsonObject, signal: AbortSignal): Result<'startTask'> {
    const handle = await this.#connected.tasks.start(tool, args, { signal });
    if (handle.id === undefined) return { result: (await handle.result()) as unknown as JsonObject };
    this.#tasks.follow(handle, tool);
    return { task: handle.id };
  }

  cancelTask(task: string): Promise<void> {
    return this.#tasks.cancel(task);
  }

  answer(ask: string, answer: JsonObject | undefined): void {
    this.#asks.answer(ask, answer);
  }

  subscribe(uri: string, isOn: boolean): Promise<void> {
    const { client } = this.#connected;
    return isOn ? client.subscribeResource(uri) : client.unsubscribeResource(uri);
  }

  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#change({ roots });
    const { client } = this.#connection ?? {};
    if (client?.isConnected && client.era === 'legacy') await client.sendRootsListChanged();
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#connected.client.setLoggingLevel(level);
  }

  get state(): ServerState {
    return this.#state;
  }

  /** @throws {Error} The server is not connected. */
  get #connected(): Opened {
    if (this.#connection && this.#state.status === 'ready') return this.#connection;
    throw new Error(`"${this.#state.name}" is not connected: connect it again`);
  }

  // ---- what is kept and told

  #log(level: LogEntry['level'], logger: string | undefined, text: string): void {
    const entry = {
      seq: ++this.#lastLog,
      timeMs: Date.now(),
      level,
      logger: logger && cut(logger, MAX_LOGGER_LENGTH),
      text: cut(text, MAX_LOG_LENGTH),
    };
    this.#logs.push(entry);
    this.#logCharacters += entry.text.length;
    while (this.#logs.length > MAX_LOGS || this.#logCharacters > MAX_LOG_CHARACTERS)
      this.#logCharacters -= this.#logs.shift()?.text.length ?? 0;
    this.#tell({ type: 'log', entry });
  }

  #step(facts: Omit<SignInStep, 'seq' | 'timeMs'>): void {
    const step = { ...facts, seq: ++this.#lastStep, timeMs: Date.now() };
    this.#steps.push(step);
    if (this.#steps.length > MAX_STEPS) this.#steps.shift();
    this.#tell({ type: 'step', step });
  }

  #change(changes: Partial<ServerState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#tell({ type: 'state', state: this.#state });
  }

  #tell(event: OwnEvent): void {
    this.#emit({ ...event, server: this.id } as InspectorEvent);
  }
}

/** An error with the causes that add something. */
export function describe(thrown: unknown): string {
  const error = toError(thrown);
  const cause = error.cause === undefined ? '' : describe(error.cause);
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
