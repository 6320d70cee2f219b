/** Detects which era a server speaks and opens a session in it. */

import { ConnectionClosedError, ExchangeHttpError, RemoteError, TimeoutError, type Transport } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { type ExchangeTransport, isExchangeTransport, isLegacyOpener } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { chooseLegacy, chooseModern } from '@mortise/protocol/revisions';
import type { ClientOptions } from '../client-options.ts';
import { UnsupportedVersionError } from '../errors.ts';
import { ChannelLink, ExchangeLink, type Link } from '../link.ts';
import type { Session, SessionSettings } from '../session.ts';
import type { TransportSource } from '../transport-source.ts';
import { type EraMemory, processEraMemory } from './era-memory.ts';
import { handshake } from './legacy-session.ts';
import { ModernSession } from './modern-session.ts';
import { type Finding, probe } from './probe.ts';

/** An open session, with a function that closes its transports. */
export interface Opened {
  readonly session: Session;
  close(): Promise<void>;
}

/** Opens one session with a server. Make a new opener for each session. */
export class SessionOpener {
  readonly #source: TransportSource;
  readonly #settings: SessionSettings;
  readonly #options: ClientOptions;
  readonly #signal: AbortSignal;
  readonly #modern: readonly Revision[];
  readonly #legacy: readonly Revision[];
  readonly #links = new Set<Link>();
  /** The transport, if it sends each request as an exchange; undefined for a channel, such as stdio. May also open a legacy channel. */
  #exchanges: (ExchangeTransport & Partial<Transport>) | undefined;
  #channel: ChannelLink | undefined;
  #lateFinding: Finding | undefined;
  /** Whether the channel may still be opening, so that silence says nothing about the server's era. */
  #isResuming = false;

  /** @throws {UnsupportedVersionError} No allowed revision has the version of the option `protocolVersion`. */
  constructor(source: TransportSource, settings: SessionSettings, options: ClientOptions, signal: AbortSignal) {
    const spoken = pinnedRevisions(options);
    this.#source = source;
    this.#settings = settings;
    this.#options = options;
    this.#signal = signal;
    this.#modern = revisionsOf('modern', spoken);
    this.#legacy = revisionsOf('legacy', spoken);
    if (options.discovers === false && this.#legacy.length > 0) {
      throw new TypeError('The option "discovers: false" needs era: "modern", because only discovery can detect the era');
    }
  }

  /** Opens a session. If that fails, closes the transports that were started for it. */
  async open(): Promise<Opened> {
    const close = async (): Promise<void> => void (await Promise.allSettled([...this.#links].map((link) => link.close())));
    try {
      const transport = this.#source.next();
      if (isExchangeTransport(transport)) this.#exchanges = transport;
      else this.#channel = await this.#start(new ChannelLink(transport, this.#settings));
      const isLegacy = async (): Promise<boolean> => (await this.#recall((memory, key) => memory.get(key)))?.era === 'legacy';
      return { session: await this.#openBy(isLegacy), close };
    } catch (error) {
      await close();
      throw this.#explain(error);
    }
  }

  /** Opens a new session on a channel that its transport is opening again. @param last The session that was open on the channel before. */
  resume(link: ChannelLink, last: Session): Promise<Session> {
    this.#channel = link;
    this.#isResuming = true;
    return this.#openBy(() => last.revision.era === 'legacy');
  }

  /** The timeout of the first message, in milliseconds. */
  get #timeoutMs(): number {
    const { initializeTimeoutMs, maxRequestTimeoutMs } = this.#settings;
    return this.#isResuming ? maxRequestTimeoutMs : initializeTimeoutMs;
  }

  async #openBy(isKnownLegacy: () => boolean | Promise<boolean>): Promise<Session> {
    const [offered] = this.#legacy;
    const [newest] = this.#modern;
    if (offered && (!newest || (await isKnownLegacy()))) {
      try {
        return await this.#handshake(offered);
      } catch (error) {
        if (!newest || !isWrongEra(error)) throw error;
        await this.#recall((memory, key) => memory.delete(key));
        await this.#renew();
      }
    }
    const link = this.#channel ?? (await this.#start(new ExchangeLink(this.#exchanges as ExchangeTransport, this.#settings)));
    // Without discovery, the client assumes the newest version. If the server refuses a request for its version, another version is tried.
    if (newest && this.#options.discovers === false) return new ModernSession(link, newest, this.#modern, undefined, this.#settings);
    return this.#conclude(await this.#ask(link), link);
  }

  // ---- opening links

  async #start<L extends Link>(link: L): Promise<L> {
    this.#links.add(link);
    this.#signal.throwIfAborted();
    await abortable(link.start(), this.#signal);
    return link;
  }

  get #canRenew(): boolean {
    return this.#channel !== undefined && this.#source.canRepeat;
  }

  /** Closes the channel and opens a new one, because the old one has ended or its server may be in an unusable state. */
  async #renew(): Promise<void> {
    const old = this.#channel;
    if (!old || !this.#canRenew) return;
    this.#links.delete(old);
    await old.close();
    this.#channel = await this.#start(new ChannelLink(this.#source.next() as Transport, this.#settings));
  }

  async #handshake(offered: Revision): Promise<Session> {
    const transport = this.#exchanges;
    if (transport && !isLegacyOpener(transport)) {
      throw this.#mismatch('the server supports the legacy era only, which this transport does not: use another transport');
    }
    const link = transport
      ? await this.#start(new ChannelLink(await abortable(transport.openLegacy(), this.#signal), this.#settings))
      : this.#channel;
    return handshake(
      link as ChannelLink,
      { offered, acceptable: this.#legacy, timeoutMs: this.#timeoutMs, signal: this.#signal },
      this.#settings,
    );
  }

  // ---- probing

  /**
   * Sends `server/discover` in one modern version after another, as long as the server names a version that was not tried. If a server
   * refuses a version and lists only that version as supported, it is asked a second time.
   */
  async #ask(link: Link): Promise<Finding> {
    let untried = this.#modern;
    let next = untried[0];
    let finding: Finding = { kind: 'legacy', error: undefined };
    for (let asks = 1; next; asks += 1) {
      const asked = next;
      finding = await this.#askInTime(link, asked);
      untried = untried.filter((revision) => revision !== asked);
      const supported = finding.kind === 'refused' ? finding.supported : [];
      next = chooseModern(supported, untried) ?? (asks === 1 ? chooseModern(supported, [asked]) : undefined);
    }
    return finding;
  }

  /** Sends `server/discover`. If a server on a channel does not respond in time, returns `silent` and sets `#lateFinding` later. */
  async #askInTime(link: Link, revision: Revision): Promise<Finding> {
    const { clock } = this.#settings;
    const signal = this.#signal;
    if (this.#legacy.length === 0 || !this.#channel || this.#isResuming) {
      return probe(link, revision, this.#settings, { signal, timeoutMs: this.#timeoutMs });
    }
    const answer = probe(link, revision, this.#settings, { signal, timeoutMs: Infinity });
    const silence = new Promise<Finding>((resolve) => {
      const { probeTimeoutMs = 3000 } = this.#options;
      const timer = clock.schedule(() => resolve({ kind: 'silent', error: undefined }), probeTimeoutMs, { keepAlive: true });
      const note = (finding?: Finding): void => {
        timer.cancel();
        this.#lateFinding = finding;
      };
      answer.then(note, () => note());
    });
    return Promise.race([answer, silence]);
  }

  // ---- choosing the era

  async #conclude(finding: Finding, link: Link): Promise<Session> {
    const modern = this.#toModern(finding, link);
    if (modern) return this.#keep(modern);
    const offered = this.#findOffer(finding);
    // Some legacy servers exit at a first message that they do not know.
    if (finding.kind === 'died') await this.#renew();
    try {
      const session = await this.#handshake(offered);
      return finding.kind === 'silent' ? session : await this.#keep(session);
    } catch (error) {
      // Some bridges start a process that refuses `initialize` after any other first message.
      if (finding.kind === 'legacy' && this.#canRenew && error instanceof RemoteError) {
        await this.#renew();
        return this.#keep(await this.#handshake(offered));
      }
      // A late discovery result shows that the server is modern and slow.
      const late = finding.kind === 'silent' && this.#lateFinding && this.#toModern(this.#lateFinding, link);
      if (!late) throw error;
      return this.#keep(late);
    }
  }

  /** Makes a session with a modern server in a version that both support; undefined if there is none. */
  #toModern(finding: Finding, link: Link): Session | undefined {
    const modern = finding.kind === 'discovered' ? chooseModern(finding.supported, this.#modern) : undefined;
    if (!modern || finding.kind !== 'discovered') return undefined;
    return new ModernSession(link, modern, this.#modern, finding.result, this.#settings);
  }

  /** Chooses the version for `initialize`. @throws The server or the client supports no legacy version, or the channel ended for good. */
  #findOffer(finding: Finding): Revision {
    const [newest] = this.#legacy;
    if (finding.kind === 'discovered' || finding.kind === 'refused') {
      const { supported } = finding;
      const offered = chooseLegacy(supported, this.#legacy);
      if (offered) return offered;
      const message = `no common version: the server supports ${supported.join(', ') || 'none'}, this client supports ${this.#versions.join(', ')}: update one of the two`;
      throw this.#mismatch(message, finding.kind === 'refused' ? finding.error : undefined, supported);
    }
    if (finding.kind !== 'died') {
      if (newest) return newest;
      throw this.#notModern(finding.error);
    }
    if (newest && this.#canRenew) return newest;
    throw this.#channel ? diedOnProbe(finding.error, newest !== undefined) : finding.error;
  }

  // ---- the memory of eras

  async #keep(session: Session): Promise<Session> {
    const { era, version } = session.revision;
    await this.#recall((memory, key) => memory.set(key, { era, protocolVersion: version }));
    return session;
  }

  /** Calls `use` with the era memory, if the transport has an `eraKey`. An error of the memory is reported and does not stop connecting. */
  async #recall<T>(use: (memory: EraMemory, key: string) => T | Promise<T>): Promise<T | undefined> {
    const { serverKey } = this.#source;
    if (serverKey === undefined) return undefined;
    try {
      return await abortable(Promise.resolve(use(this.#options.eraMemory ?? processEraMemory, serverKey)), this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#settings.onError(
        error instanceof Error ? error : new Error('the option "eraMemory" threw a value that is not an Error', { cause: error }),
      );
      return undefined;
    }
  }

  // ---- errors

  get #versions(): readonly string[] {
    return supportedVersions([...this.#modern, ...this.#legacy]);
  }

  #mismatch(message: string, cause?: Error, supported: readonly string[] = []): UnsupportedVersionError {
    return new UnsupportedVersionError(message, supported, this.#versions, cause && { cause });
  }

  /** Makes the error for a client that allows only the modern era. Returns a `cause` unchanged if it does not show the server's era. */
  #notModern(cause: Error | undefined): Error {
    const isHttp = cause instanceof ExchangeHttpError;
    if (isHttp && showsNothing(cause)) return cause;
    const answer = isHttp ? `. It answered: ${cause.message}` : '';
    const message =
      'the server does not support the modern era, the only one that this client allows: leave out the option "era" to use the legacy era';
    return this.#mismatch(message + answer, cause);
  }

  /** Adds the transport's last error to a timeout: a server that writes anything but MCP messages looks like one that does not respond. */
  #explain(error: unknown): unknown {
    if (!(error instanceof TimeoutError)) return error;
    const cause = [...this.#links].map(({ lastError }) => lastError).find((one) => one !== undefined);
    const { timeoutMs } = error;
    const silence = `the server did not respond to the first message within ${timeoutMs} ms: check that it is an MCP server, or raise requestTimeoutMs`;
    return new TimeoutError(cause ? `${silence}. Last transport error: ${cause.message}` : silence, timeoutMs, cause && { cause });
  }
}

/** The revisions that the options allow, newest first. */
function pinnedRevisions({ era, protocolVersion, revisions = REVISIONS }: ClientOptions): readonly Revision[] {
  if (era !== undefined && era !== 'legacy' && era !== 'modern') {
    throw new TypeError(`The option "era" must be "legacy" or "modern", got ${JSON.stringify(era)}: leave it out for automatic detection`);
  }
  const spoken = era === undefined ? revisions : revisionsOf(era, revisions);
  if (spoken.length === 0)
    throw new TypeError('The option "revisions" must contain a revision of @mortise/protocol that the option "era" allows');
  if (protocolVersion === undefined) return spoken;
  const version = chooseModern([protocolVersion], spoken) ?? chooseLegacy([protocolVersion], spoken);
  if (version) return [version];
  const known = supportedVersions(spoken);
  const message = `this client does not support protocolVersion ${JSON.stringify(protocolVersion)}: use one of ${known.join(', ')}`;
  throw new UnsupportedVersionError(message, [], known);
}

/** Whether the error of `initialize` suggests that the server no longer supports the legacy era. */
function isWrongEra(error: unknown): boolean {
  if (error instanceof ExchangeHttpError) return [400, 404, 405, 406, 415].includes(error.status);
  return error instanceof RemoteError || error instanceof UnsupportedVersionError || error instanceof ConnectionClosedError;
}

/** Whether an HTTP error says nothing about the server's era: a wrong path (but not an unknown method), a failed server, or a web page. */
function showsNothing({ status, rpcError, headers }: ExchangeHttpError): boolean {
  if (status >= 500) return true;
  if (status === 404) return rpcError?.code !== METHOD_NOT_FOUND;
  return rpcError === undefined && headers?.['content-type']?.startsWith('text/html') === true;
}

function diedOnProbe(cause: Error, isLegacyWanted: boolean): Error {
  const remedy = isLegacyWanted
    ? 'for a legacy server, pass connect() a factory of transports, or set era: "legacy"'
    : 'see its stderr output';
  return new ConnectionClosedError(`the server closed the connection at the first message: ${remedy}`, { cause });
}
