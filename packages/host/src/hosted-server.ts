/** One server of a host: starts it when needed, keeps its state, starts it again when it is lost, and follows its lists. */

import { type ClientOptions, type ClientTransportSource, McpClient, type Subscription } from '@mortise/client';
import { type Clock, type ClockTimer, ConnectionClosedError, isMortiseError, SessionLostError } from '@mortise/jsonrpc-core';
import { abortable, linkSignals, withTimeout } from '@mortise/jsonrpc-core/connection';
import { toError } from '@mortise/jsonrpc-core/transport';
import { hasCapability } from '@mortise/protocol/checks';
import type { Implementation } from '@mortise/protocol/model';
import { ServerUnavailableError } from './errors.ts';
import { FloodGuard } from './flood-guard.ts';
import { type ListName, type ListedItems, ServerLists } from './server-list.ts';

/** The state of a server. */
export type ServerState =
  /** Not started yet: the first call or list starts it. */
  | { readonly status: 'idle' }
  /** It is being started, for the first time or after it was lost. */
  | { readonly status: 'starting' }
  | { readonly status: 'ready' }
  /** The user has to sign in. `url` is where, if the authorizer gave an address. Afterwards call `host.start(server)`. */
  | { readonly status: 'needs sign-in'; readonly reason: string; readonly url: string | undefined }
  /** It could not be started, or was lost. It is started again by itself as long as `willRetry` is true, else by the next call. */
  | { readonly status: 'failed'; readonly reason: string; readonly error: Error; readonly willRetry: boolean }
  | { readonly status: 'closed' };

/** What a hosted server reports to its owner. */
export interface HostedServerEvents {
  onState(state: ServerState): void;
  /** Called when a list has changed. */
  onListChanged(list: ListName): void;
  onError(error: Error): void;
}

export interface HostedServerInit {
  readonly name: string;
  /** Returns how the server is reached. Called for each connection; may throw. */
  readonly source: () => ClientTransportSource;
  readonly info: Implementation;
  /** Makes the options of the client of one connection. */
  readonly clientOptions: () => ClientOptions;
  /** Called with each client before it connects, to set its handlers. */
  readonly prepare: (client: McpClient) => void;
  readonly events: HostedServerEvents;
  readonly clock: Clock;
}

/** The first pause before a server is started again, the longest one, and how often it is tried in a row without a call that needs it. */
const FLOOR_MS = 500;
const CEILING_MS = 30_000;
const MAX_ATTEMPTS = 5;
/** A connection that lasted this long counts as sound: the server is then started again without a pause. */
const SOUND_AFTER_MS = 60_000;

/** How long reading a list waits until the server has accepted to report changes. */
const ACCEPT_MS = 1_000;

export const LIST_FILTERS = [
  ['toolsListChanged', 'tools.listChanged', ['tools']],
  ['promptsListChanged', 'prompts.listChanged', ['prompts']],
  ['resourcesListChanged', 'resources.listChanged', ['resources', 'resourceTemplates']],
] as const satisfies readonly (readonly [string, string, readonly ListName[]])[];

const SIGN_IN_CODES: readonly string[] = ['ERR_SIGN_IN_REQUIRED', 'ERR_SIGN_IN_PENDING', 'ERR_SIGN_IN_TIMEOUT', 'ERR_SIGN_IN_DENIED'];

/** A client and the lists that were read through it. */
interface Opened {
  readonly client: McpClient;
  readonly lists: ServerLists;
  /** Resolves when the server reports changes of its lists, or cannot: what is read from then on does not become stale unnoticed. */
  readonly followed: Promise<void>;
}

export class HostedServer {
  readonly name: string;
  readonly #init: HostedServerInit;
  readonly #closing = new AbortController();
  readonly #watched = new Set<string>();
  #state: ServerState = { status: 'idle' };
  #opened: Opened | undefined;
  #starting: Promise<Opened> | undefined;
  #failures = 0;
  #startedAtMs = 0;
  /** Ends the pause before the next start. */
  #retry: ClockTimer | undefined;

  constructor(init: HostedServerInit) {
    this.name = init.name;
    this.#init = init;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The client of the open connection; undefined while there is none. */
  get client(): McpClient | undefined {
    return this.#opened?.client;
  }

  /**
   * Starts the server at once, also if it failed before.
   *
   * @throws {ServerUnavailableError} It could not be started.
   */
  async start(): Promise<McpClient> {
    this.#retry?.cancel();
    this.#retry = undefined;
    const { client } = await this.#open();
    this.#noteReady();
    return client;
  }

  /**
   * Returns a list of the server, and starts the server if it was not started yet.
   *
   * @param isFresh Whether the list is read again if the server does not say when it changes.
   */
  async list<N extends ListName>(name: N, signal?: AbortSignal, isFresh = false): Promise<readonly ListedItems[N][]> {
    const { lists, followed } = await abortable(this.#whenOpen(), signal);
    await abortable(followed, signal);
    return abortable(lists.get(name, isFresh), signal);
  }

  /** Whether a list that was read may have changed unnoticed. */
  mayBeStale(name: ListName): boolean {
    return this.#opened?.lists.reportsChanges(name) === false;
  }

  /**
   * Calls `use` with the client of the open connection. A call that the server refused because it had lost the session is repeated once.
   *
   * @throws {ServerUnavailableError} The server cannot be reached. @throws Whatever `use` rejects with.
   */
  async run<T>(use: (client: McpClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const opened = this.#opened ?? (await abortable(this.#whenOpen(), signal));
    try {
      const result = await use(opened.client);
      this.#noteReady();
      return result;
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw this.#noteSignIn(error);
      await this.#drop(opened);
      return use((await abortable(this.#open(), signal)).client);
    }
  }

  /** Asks for updates of a resource, also after the server was started again. */
  async watch(uri: string): Promise<void> {
    await this.run((client) => client.subscribeResource(uri));
    this.#watched.add(uri);
  }

  async unwatch(uri: string): Promise<void> {
    this.#watched.delete(uri);
    await this.client?.unsubscribeResource(uri);
  }

  /** Ends the connection for good. A second call does nothing more. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#setState({ status: 'closed' });
    this.#closing.abort(new ConnectionClosedError(`the host closed the server "${this.name}"`));
    this.#retry?.cancel();
    this.#retry = undefined;
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.client.close();
    await this.#starting?.catch(() => undefined);
  }

  // ---- starting

  #whenOpen(): Promise<Opened> {
    if (this.#opened) return Promise.resolve(this.#opened);
    const { status } = this.#state;
    // A server that fails is not asked again before its pause has passed: its callers learn at once.
    if (this.#retry && status === 'failed') return Promise.reject(this.#unavailable(this.#state));
    if (status === 'needs sign-in') return Promise.reject(this.#unavailable(this.#state));
    return this.#open();
  }

  #open(): Promise<Opened> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason as Error);
    if (this.#opened) return Promise.resolve(this.#opened);
    this.#starting ??= this.#connect().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #connect(): Promise<Opened> {
    const { events, clock } = this.#init;
    this.#setState({ status: 'starting' });
    const guard = new FloodGuard(clock);
    let client: McpClient;
    try {
      client = this.#createClient(guard);
      await this.#connectClient(client, guard);
    } catch (error) {
      throw this.#onFailure(guard.signal.reason ?? error);
    }
    const lists = new ServerLists(this.name, client, (error) => events.onError(error));
    const opened = { client, lists, followed: this.#follow(client, lists, guard) };
    this.#opened = opened;
    this.#startedAtMs = clock.monotonicMs();
    void client.closed.then(() => this.#onLost(opened, guard.signal.reason as Error | undefined));
    for (const uri of this.#watched) client.subscribeResource(uri).catch((error: unknown) => events.onError(toError(error)));
    this.#setState({ status: 'ready' });
    return opened;
  }

  #createClient(guard: FloodGuard): McpClient {
    const { info, clientOptions, prepare, events, clock } = this.#init;
    const onError = (error: Error): void => void (guard.countError(error) && events.onError(error));
    const client = new McpClient(info, { ...clientOptions(), restart: false, onError, clock });
    guard.signal.addEventListener('abort', () => void client.close());
    // Progress belongs to a call.
    client.onAnyNotification(({ method }) => method === 'notifications/progress' || guard.countNotification());
    prepare(client);
    return client;
  }

  async #connectClient(client: McpClient, guard: FloodGuard): Promise<void> {
    const { signal, dispose } = linkSignals(this.#closing.signal, guard.signal);
    try {
      await client.connect(this.#init.source(), { signal });
      // `close` may have been called while the last step of connecting was on its way.
      if (signal.aborted) {
        await client.close();
        throw signal.reason;
      }
    } finally {
      dispose();
    }
  }

  /** Forgets lists as the server reports changes. Resolves once the server has accepted to report them, has refused, or took too long. */
  async #follow(client: McpClient, lists: ServerLists, guard: FloodGuard): Promise<void> {
    const { events, clock } = this.#init;
    const wanted = LIST_FILTERS.filter(([, capability]) => hasCapability(client.serverCapabilities, capability));
    if (wanted.length === 0) return;
    const listen = (): Subscription => client.listen(Object.fromEntries(wanted.map(([key]) => [key, true])));
    let changes = listen();
    const forget = (method?: string): void => {
      for (const [key, , names] of wanted)
        if (method === undefined || method.startsWith(`notifications/${key.replace('ListChanged', '')}/`))
          for (const name of names) {
            lists.forget(name);
            events.onListChanged(name);
          }
    };
    const read = async (): Promise<void> => {
      for (;;) {
        for await (const { method, isAfterGap } of changes) {
          // In the legacy era `onAnyNotification` has counted it.
          if (client.era === 'modern') guard.countNotification();
          forget(isAfterGap ? undefined : method);
        }
        // A server may end a subscription and go on, as when one of its machines leaves.
        await new Promise<void>((resolve) => void clock.schedule(resolve, FLOOR_MS));
        if (this.#opened?.client !== client) return;
        changes = listen();
        await changes.accepted;
        forget();
      }
    };
    read().catch((error: unknown) => {
      // The end of the connection is reported as the server's state.
      if (this.#opened?.client === client && !(error instanceof ConnectionClosedError)) events.onError(toError(error));
    });
    const limit = withTimeout(ACCEPT_MS, undefined, clock);
    const { accepted } = changes;
    await abortable(accepted, limit.signal).catch(() => undefined);
    limit.dispose();
    if (limit.signal.aborted)
      accepted.then(
        () => forget(),
        () => undefined,
      );
  }

  // ---- lost

  #onLost(opened: Opened, cause: Error | undefined): void {
    if (this.#opened !== opened) return;
    this.#opened = undefined;
    const isSound = this.#init.clock.monotonicMs() - this.#startedAtMs >= SOUND_AFTER_MS;
    if (isSound) this.#failures = 0;
    if (this.#closing.signal.aborted) return;
    this.#fail(cause ?? new ConnectionClosedError('the connection to the server ended'), isSound && !cause ? 0 : undefined);
  }

  async #drop(opened: Opened): Promise<void> {
    if (this.#opened !== opened) return;
    this.#opened = undefined;
    await opened.client.close();
  }

  #onFailure(thrown: unknown): Error {
    const error = toError(thrown);
    if (this.#closing.signal.aborted) return this.#closing.signal.reason as Error;
    const signIn = findSignIn(error);
    if (signIn) this.#setState({ status: 'needs sign-in', reason: signIn.message, url: urlOf(signIn) });
    else this.#fail(error, undefined);
    return this.#unavailable(this.#state, error);
  }

  /** Notes a failure, and starts the server again after a pause that grows, unless it failed too often in a row. */
  #fail(error: Error, pauseMs: number | undefined): void {
    this.#failures += 1;
    const willRetry = this.#failures <= MAX_ATTEMPTS;
    const fullMs = Math.min(CEILING_MS, FLOOR_MS * 2 ** this.#failures);
    // Jitter between half and all of the pause, so that servers lost together do not start together.
    const delayMs = pauseMs ?? fullMs * (0.5 + Math.random() / 2);
    this.#retry = this.#init.clock.schedule(() => this.#onPauseOver(willRetry), delayMs);
    this.#setState({ status: 'failed', reason: error.message, error, willRetry });
  }

  #onPauseOver(willRetry: boolean): void {
    this.#retry = undefined;
    // A server that failed too often waits for a call that needs it.
    if (willRetry) this.#open().catch(() => undefined);
  }

  /** Notes that the user has signed in, after a call failed because of it. */
  #noteReady(): void {
    if (this.#opened && this.#state.status === 'needs sign-in') this.#setState({ status: 'ready' });
  }

  #noteSignIn(error: unknown): unknown {
    const signIn = findSignIn(error);
    if (signIn && this.#opened) this.#setState({ status: 'needs sign-in', reason: signIn.message, url: urlOf(signIn) });
    return error;
  }

  #unavailable(state: ServerState, cause?: Error): ServerUnavailableError {
    const { name } = this;
    if (state.status === 'needs sign-in') {
      const message = `the server "${name}" needs the user to sign in: ${state.reason}. Then call host.start("${name}")`;
      return new ServerUnavailableError('ERR_SIGN_IN_REQUIRED', name, message, { cause });
    }
    const { error, reason } = state.status === 'failed' ? state : { error: cause, reason: 'it is not running' };
    return new ServerUnavailableError('ERR_SERVER_UNAVAILABLE', name, `the server "${name}" is not available: ${reason}`, { cause: error });
  }

  #setState(state: ServerState): void {
    this.#state = state;
    this.#init.events.onState(state);
  }
}

/** Finds an error that says that the user has to sign in, among an error and its causes. */
function findSignIn(thrown: unknown): Error | undefined {
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth += 1, error = error.cause)
    if (isMortiseError(error) && SIGN_IN_CODES.includes(error.code)) return error;
  return undefined;
}

function urlOf(error: Error): string | undefined {
  const { authorizationUrl } = error as Error & { readonly authorizationUrl?: unknown };
  return typeof authorizationUrl === 'string' ? authorizationUrl : undefined;
}
