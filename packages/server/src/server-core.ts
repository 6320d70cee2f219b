/** What every part of a server shares: who serves which method, the options, the instruments. Holds nothing of any caller. */

import type { Clock, JsonObject, Logger } from '@mortise/jsonrpc-core';
import { guardLogger, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { type Implementation, MemoryMessageBus, NEWEST, REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { findRequest } from '@mortise/protocol/revisions';
import type { CursorCodec } from '@mortise/protocol/cursors';
import { META_SERVER_INFO } from '@mortise/protocol/wire';
import type { AskInterceptor, BusMessage, MessageBus, ServerExtension } from '@mortise/protocol/contracts';
import { checkRequestStateOptions } from './asks/request-state-options.ts';
import { cacheHintsOf, checkCacheOptions } from './cache-hints.ts';
import { CapabilityBook } from './capabilities.ts';
import { checkServer } from './check-server.ts';
import { Deadlines } from './deadlines.ts';
import type { Session } from './era/session.ts';
import { RegistrationError } from './errors.ts';
import { isKnownRequest } from './known-methods.ts';
import { ListChanges } from './list-changed.ts';
import type { Listen } from './listen.ts';
import type { Middleware } from './middleware/middleware.ts';
import { createNotificationHandlers, type NotificationHandlers } from './notifications.ts';
import { onDemand } from './on-demand.ts';
import type { CacheHints, ServerOptions } from './options.ts';
import type { RawHandler } from './raw-call.ts';
import type { RequestCall } from './request-call.ts';
import { type Interceptor, type MethodEntry, ResolvedMethod } from './resolved-method.ts';
import { Topics } from './topics.ts';

const withCursors = onDemand(() => import('@mortise/protocol/cursors'));

/** A connection that the server must end when it closes. */
export interface OpenConnection {
  drain(deadlineMs: number): Promise<void>;
}

interface AddedMiddleware {
  readonly method: string | undefined;
  readonly middleware: Middleware;
}

/** How many different things a server tells its operator once, and so remembers. */
const MAX_WARNINGS = 1000;

export class ServerCore {
  readonly info: Implementation;
  readonly options: ServerOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: MessageBus;
  readonly topics: Topics;
  readonly capabilities: CapabilityBook;
  readonly deadlines: Deadlines;
  readonly listChanges: ListChanges;
  /** What is spoken here, newest first. */
  readonly revisions: readonly Revision[];
  readonly versions: readonly string[];
  /** Those that a request may name itself, by version. */
  readonly modern: ReadonlyMap<string, Revision>;
  /** The extensions that add to `ctx`. */
  readonly contextExtensions: readonly ServerExtension[];
  readonly notifications: NotificationHandlers = createNotificationHandlers();
  /** What must be told to end when the server closes. No request looks at these. */
  readonly connections: Set<OpenConnection> = new Set();
  readonly sessions: Set<Session> = new Set();
  readonly listens: Set<Listen> = new Set();
  readonly onClose: (() => Promise<void>)[] = [];
  /** What extensions put around questions to clients of the legacy era. */
  readonly askInterceptors: AskInterceptor[] = [];
  /** Sees every request first, as it came. */
  rawHandler: RawHandler | undefined;
  readonly #methods = new Map<string, MethodEntry>();
  readonly #extensionMethods = new Map<string, MethodEntry[]>();
  readonly #interceptors = new Map<string, Interceptor[]>();
  readonly #middleware: AddedMiddleware[] = [];
  #resolved = new Map<Revision, Map<string, ResolvedMethod>>();
  readonly #warnings = new Set<string>();
  #sink: Logger;
  #cursors: CursorCodec | undefined;
  #resultMeta: JsonObject | undefined;

  constructor(info: Implementation, options: ServerOptions) {
    checkServer(info, options);
    checkRequestStateOptions(options.requestState);
    checkCacheOptions(options.cache ?? {});
    this.info = info;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.#sink = options.logger ?? silentLogger;
    this.logger = guardLogger({ log: (level, message, data) => this.#sink.log(level, message, data) });
    this.bus = options.messageBus ?? new MemoryMessageBus({ onError: (error) => this.logger.log('error', 'A listener failed', { error }) });
    this.topics = new Topics(this.bus);
    this.capabilities = new CapabilityBook(options.capabilities, options.extensions);
    this.deadlines = new Deadlines(options.handlerTimeoutMs ?? 600_000, this.clock);
    const audience = {
      // Behind a bus of the program's own there may be other machines.
      has: (topic: string) => options.messageBus !== undefined || this.topics.has(topic),
      publish: (event: BusMessage) => void this.publish(event),
    };
    this.listChanges = new ListChanges(audience, this.clock, options.debounceMs ?? 0);
    this.revisions = chooseRevisions(options.revisions);
    this.versions = supportedVersions(this.revisions);
    this.modern = new Map(revisionsOf('modern', this.revisions).map((revision) => [revision.version, revision]));
    this.contextExtensions = (options.extensions ?? []).filter((extension) => extension.context);
  }

  /** The server's identity for modern results; undefined where it is not told. */
  get serverInfo(): Implementation | undefined {
    return this.options.sendsServerInfo === false ? undefined : this.info;
  }

  /** The `_meta` of a modern result that has no other. One for all: nobody may change it. */
  get resultMeta(): JsonObject {
    return (this.#resultMeta ??= Object.freeze({ [META_SERVER_INFO]: this.info }));
  }

  /** What results of a method say about caching by default. */
  cacheHints(method: string): Required<CacheHints> {
    return cacheHintsOf(method, this.options.cache ?? {});
  }

  /** Reads or writes a cursor, with what is loaded for the first one. */
  useCursors<T>(use: (cursors: CursorCodec) => T): T | Promise<T> {
    const { cursorKey } = this.options;
    return withCursors(({ createCursorCodec }) => use((this.#cursors ??= createCursorCodec(cursorKey ? { key: cursorKey } : {}))));
  }

  // ---- methods

  setMethod(method: string, entry: MethodEntry): void {
    this.#methods.set(method, entry);
    this.forgetResolved();
  }

  /** Whether a method is served, by something other than an extension. */
  hasMethod(method: string): boolean {
    return this.#methods.has(method);
  }

  deleteMethod(method: string): void {
    this.#methods.delete(method);
    this.forgetResolved();
  }

  addExtensionMethod(method: string, entry: MethodEntry): void {
    const entries = this.#extensionMethods.get(method) ?? [];
    this.#extensionMethods.set(method, [...entries, entry]);
    this.forgetResolved();
  }

  addInterceptor(method: string, interceptor: Interceptor): void {
    this.#interceptors.set(method, [...(this.#interceptors.get(method) ?? []), interceptor]);
    this.forgetResolved();
  }

  /** @param method Undefined for all. */
  addMiddleware(middleware: Middleware, method: string | undefined): void {
    this.#middleware.push({ method, middleware });
    this.forgetResolved();
  }

  /** Says what registering something shows, and lets what depends on it be looked up anew. */
  registerCapability(name: string, capability: JsonObject): void {
    if (this.capabilities.register(name, capability)) this.forgetResolved();
  }

  forgetResolved(): void {
    this.#resolved = new Map();
  }

  /** What serves a method in a revision; undefined where the answer is -32601. */
  resolve(revision: Revision, method: string): ResolvedMethod | undefined {
    let methods = this.#resolved.get(revision);
    if (!methods) this.#resolved.set(revision, (methods = new Map()));
    const known = methods.get(method);
    if (known) return known;
    const resolved = this.#lookUp(revision, method);
    // What does not exist is not kept: a caller could fill the memory with names.
    if (resolved) methods.set(method, resolved);
    return resolved;
  }

  /** The parameter of a method that names its target. */
  nameParam(method: string): string | undefined {
    const own = this.#extensionMethods.get(method)?.find((entry) => entry.nameParam !== undefined);
    return own?.nameParam ?? NEWEST.requests.get(method)?.nameParam;
  }

  /** Tells the operator something that need not be said again: what nobody heard yet is said to the logger that a host offers. */
  warnOnce(message: string): void {
    if (this.#warnings.has(message) || this.#warnings.size >= MAX_WARNINGS) return;
    this.#warnings.add(message);
    this.logger.log('warning', message);
  }

  /** Where lines go as long as the program has not said: to the first logger that a host offers. */
  offerLogger(logger: Logger): void {
    if (this.options.logger !== undefined || this.#sink !== silentLogger) return;
    this.#sink = logger;
    for (const warning of this.#warnings) this.logger.log('warning', warning);
  }

  // ---- events

  publish(event: BusMessage): Promise<void> {
    return this.bus
      .publish(event)
      .catch((error: unknown) => this.logger.log('error', 'An event could not be published', { topic: event.topic, error }));
  }

  publishResourceUpdated(uri: string): Promise<void> {
    return this.publish({ topic: `resource:${uri}`, payload: { uri } });
  }

  // ---- end

  async close(drainMs: number): Promise<void> {
    await Promise.all([...this.listens].map((listen) => listen.end()));
    await Promise.all([...this.connections].map((connection) => connection.drain(drainMs)));
    await Promise.all([...this.sessions].map((session) => session.close()));
    this.listChanges.stop();
    this.deadlines.stop();
    await Promise.all(this.onClose.map((fn) => fn()));
  }

  #lookUp(revision: Revision, method: string): ResolvedMethod | undefined {
    const facts = findRequest(revision, method, 'client');
    const entry = this.#findExtensionMethod(revision, method) ?? (facts || !isKnownRequest(method) ? this.#methods.get(method) : undefined);
    if (!entry) return undefined;
    const gate = entry.eras ? undefined : facts?.serverCapability;
    if (gate !== undefined && !this.capabilities.has(revision, gate)) return undefined;
    const { context } = this.options;
    return new ResolvedMethod({
      method,
      revision,
      facts,
      entry,
      middleware: this.#middleware
        .filter((added) => added.method === undefined || added.method === method)
        .map((added) => added.middleware),
      interceptors: this.#interceptors.get(method) ?? [],
      context: context && ((call: RequestCall) => context(call)),
      targetParam: this.nameParam(method),
    });
  }

  #findExtensionMethod(revision: Revision, method: string): MethodEntry | undefined {
    return this.#extensionMethods.get(method)?.find((entry) => entry.eras?.includes(revision.era));
  }
}

function chooseRevisions(given: readonly Revision[] | undefined): readonly Revision[] {
  if (given === undefined) return REVISIONS;
  const stranger: unknown = given.find((each) => !REVISIONS.includes(each));
  if (stranger !== undefined || given.length === 0) {
    const problem = stranger === undefined ? 'names none' : `${JSON.stringify(stranger)?.slice(0, 40)} is no Revision`;
    throw new RegistrationError(
      `revisions: ${problem}. Give values of @mortise/protocol, such as revisionsOf('modern') or [findRevision('${NEWEST.version}')]`,
    );
  }
  return REVISIONS.filter((revision) => given.includes(revision));
}
