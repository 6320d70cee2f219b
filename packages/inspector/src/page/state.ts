/** What the page knows: the servers, and all that the command told about them. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { LoggingLevel } from '@mortise/protocol';
import { batch, computed, signal, type Signal } from '@preact/signals';
import type {
  Ask,
  InspectorEvent,
  ListName,
  Lists,
  LogEntry,
  ServerSnapshot,
  ServerState,
  SignInStep,
  TaskEntry,
  WireLoss,
  WireMessage,
} from '../messages.ts';
import { ask } from './link.ts';
import { type Run } from './runs.ts';
import { messageOf } from './text.ts';

/** As many messages and log entries as the command keeps. */
const MAX_MESSAGES = 10_000;
const MAX_LOGS = 5_000;

export interface ListState<Item> {
  readonly items: readonly Item[];
  readonly isCut: boolean;
  readonly isLoading: boolean;
  readonly error: string | undefined;
}

/** Grows at its end without being copied: `version` changes instead. */
export interface Growing<Item> {
  readonly items: Item[];
  readonly version: Signal<number>;
}

export interface ServerModel {
  readonly id: string;
  readonly state: Signal<ServerState>;
  readonly wire: Growing<WireMessage>;
  readonly loss: Signal<WireLoss>;
  readonly logs: Growing<LogEntry>;
  readonly asks: Signal<readonly Ask[]>;
  readonly tasks: Signal<readonly TaskEntry[]>;
  readonly steps: Signal<readonly SignInStep[]>;
  readonly lists: { readonly [Name in ListName]: Signal<ListState<Lists[Name]>> };
  readonly runs: Signal<readonly Run[]>;
  /** What the views keep: see `useKept`. */
  readonly kept: Map<string, unknown>;
  /** URIs that changed since they were read, and those that are followed. */
  readonly updated: Signal<ReadonlySet<string>>;
  readonly followed: Signal<ReadonlySet<string>>;
  /** The level from which the server was asked to log; empty where it was not. */
  readonly logLevel: Signal<LoggingLevel | ''>;
}

export const servers = signal<readonly ServerModel[]>([]);
export const revisions = signal<readonly string[]>([]);
/** undefined while the form to connect is shown. */
export const selectedId = signal<string | undefined>(undefined);
export const selected = computed(() => servers.value.find(({ id }) => id === selectedId.value));
/** The last error that belongs to no run. */
export const notice = signal('');

export const report = (error: unknown): void => void (notice.value = messageOf(error));

const growing = <Item>(items: readonly Item[]): Growing<Item> => ({ items: [...items], version: signal(0) });
const emptyList = <Item>(): Signal<ListState<Item>> =>
  signal<ListState<Item>>({ items: [], isCut: false, isLoading: false, error: undefined });

function toModel({ state, wire, loss, logs, asks, tasks, steps }: ServerSnapshot, before: ServerModel | undefined): ServerModel {
  return {
    id: state.id,
    state: signal(state),
    wire: growing(wire),
    loss: signal(loss),
    logs: growing(logs),
    asks: signal(asks),
    tasks: signal(tasks),
    steps: signal(steps),
    lists: before?.lists ?? { tools: emptyList(), resources: emptyList(), resourceTemplates: emptyList(), prompts: emptyList() },
    runs: before?.runs ?? signal([]),
    kept: before?.kept ?? new Map(),
    updated: before?.updated ?? signal(new Set()),
    followed: before?.followed ?? signal(new Set()),
    logLevel: before?.logLevel ?? signal(''),
  };
}

/** Takes over all that the command knows. */
export async function loadAll(): Promise<void> {
  const known = await ask('hello', {});
  batch(() => {
    revisions.value = known.revisions;
    servers.value = known.servers.map((snapshot) => toModel(snapshot, find(snapshot.state.id)));
    if (!selected.value) selectedId.value = servers.value[0]?.id;
  });
  for (const server of servers.value) if (server.state.value.status === 'ready') loadLists(server);
}

const find = (id: string): ServerModel | undefined => servers.value.find((server) => server.id === id);

export function applyEvents(events: readonly InspectorEvent[]): void {
  batch(() => {
    for (const event of events) apply(event);
  });
}

function apply(event: InspectorEvent): void {
  let server = find(event.server);
  if (!server && event.type === 'state') {
    const nothing = { wire: [], loss: { messages: 0, bytes: 0 }, logs: [], asks: [], tasks: [], steps: [] };
    server = toModel({ ...nothing, state: event.state }, undefined);
    servers.value = [...servers.value, server];
  }
  if (!server) return;
  switch (event.type) {
    case 'state':
      return onState(server, event.state);
    case 'gone':
      servers.value = servers.value.filter(({ id }) => id !== event.server);
      if (selectedId.value === event.server) selectedId.value = servers.value[0]?.id;
      return;
    case 'wire':
      return grow(server.wire, event.message, MAX_MESSAGES);
    case 'loss':
      server.loss.value = event.loss;
      return;
    case 'log':
      return grow(server.logs, event.entry, MAX_LOGS);
    case 'ask':
      server.asks.value = [...server.asks.value, event.ask];
      return;
    case 'ask over':
      server.asks.value = server.asks.value.filter(({ id }) => id !== event.ask);
      return;
    case 'task':
      server.tasks.value = [...server.tasks.value.filter(({ id }) => id !== event.task.id), event.task];
      return;
    case 'step':
      server.steps.value = [...server.steps.value, event.step];
      return;
    case 'list changed':
      return loadChanged(server, event.list);
    case 'resource updated':
      server.updated.value = new Set([...server.updated.value, event.uri]);
  }
}

/** The entry may be known already: an event can come just before the answer that holds it. */
function grow<Item extends { readonly seq: number }>({ items, version }: Growing<Item>, item: Item, most: number): void {
  const last = items.at(-1);
  if (last && last.seq >= item.seq) return;
  items.push(item);
  // Some more at once: moving all for each new one would take long.
  if (items.length > most + 500) items.splice(0, items.length - most);
  version.value += 1;
}

function onState(server: ServerModel, state: ServerState): void {
  const { status } = server.state.value;
  server.state.value = state;
  if (state.status !== 'ready' || status === 'ready') return;
  // A new connection follows no resource yet, and has no level of logs.
  server.followed.value = new Set();
  server.logLevel.value = '';
  loadLists(server);
}

// ---- lists

const CAPABILITY = { tools: 'tools', resources: 'resources', resourceTemplates: 'resources', prompts: 'prompts' } as const;

export function loadLists(server: ServerModel): void {
  for (const name of Object.keys(CAPABILITY) as ListName[])
    if (server.state.value.capabilities?.[CAPABILITY[name]] !== undefined) void loadList(server, name);
}

function loadChanged(server: ServerModel, changed: 'tools' | 'resources' | 'prompts'): void {
  for (const name of Object.keys(CAPABILITY) as ListName[]) if (CAPABILITY[name] === changed) void loadList(server, name);
}

export async function loadList(server: ServerModel, name: ListName): Promise<void> {
  const list = server.lists[name] as Signal<ListState<JsonObject>>;
  list.value = { ...list.value, isLoading: true };
  try {
    const { items, isCut } = await ask('list', { server: server.id, list: name });
    list.value = { items, isCut, isLoading: false, error: undefined };
  } catch (error) {
    list.value = { ...list.value, isLoading: false, error: messageOf(error) };
  }
}
