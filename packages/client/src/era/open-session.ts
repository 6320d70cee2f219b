/** Finds out which era a server speaks and opens a session in it. The one place where the eras part. */

import { ConnectionClosedError, ExchangeHttpError, RemoteError, TimeoutError, type Transport } from '@mortise/jsonrpc-core';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { type ExchangeTransport, isExchangeTransport, isLegacyOpener } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { chooseLegacy, chooseModern } from '@mortise/protocol/revisions';
import type { ClientOptions } from '../client-options.ts';
import { UnsupportedVersionError } from '../errors.ts';
import { ChannelLink, ExchangeLink, type Link } from '../link.ts';
import type { Session, SessionSettings } from '../session.ts';
import type { TransportSource } from '../transport-source.ts';
import { RememberedEra } from './era-memory.ts';
import { handshake } from './legacy-session.ts';
import { ModernSession } from './modern-session.ts';
import { type Finding, probe } from './probe.ts';

/** What of a client's options the era depends on. */
export type EraOptions = Pick<ClientOptions, 'era' | 'protocolVersion' | 'revisions' | 'discovers' | 'probeTimeoutMs' | 'eraMemory'>;

/** A session and everything that was opened for it. */
export interface Opened {
  readonly session: Session;
  close(): Promise<void>;
}

/** How the two eras reach one server. A channel carries both; exchanges have a channel of their own for the legacy era. */
interface Ways {
  modern(): Promise<Link>;
  legacy(): Promise<ChannelLink>;
  /** Starts over on a fresh channel after one that is spoilt; undefined where there is none. */
  readonly renew: (() => Promise<void>) | undefined;
}

/** Opens one session; made anew for each. */
export class SessionOpener {
  readonly #source: TransportSource;
  readonly #settings: SessionSettings;
  readonly #signal: AbortSignal;
  readonly #modern: readonly Revision[];
  readonly #legacy: readonly Revision[];
  readonly #probeTimeoutMs: number;
  readonly #discovers: boolean;
  readonly #remembered: RememberedEra;
  readonly #links = new Set<Link>();

  /** @throws {UnsupportedVersionError} No revision is of the version that is pinned. */
  constructor(source: TransportSource, settings: SessionSettings, options: EraOptions, signal: AbortSignal) {
    const spoken = pinnedRevisions(options);
    this.#source = source;
    this.#settings = settings;
    this.#signal = signal;
    this.#modern = revisionsOf('modern', spoken);
    this.#legacy = revisionsOf('legacy', spoken);
    this.#probeTimeoutMs = options.probeTimeoutMs ?? 3000;
    this.#discovers = options.discovers ?? true;
    if (!this.#discovers && this.#legacy.length > 0) {
      throw new TypeError('discovers: false needs era: "modern": a server whose era is not known must be asked');
    }
    this.#remembered = new RememberedEra(options.eraMemory, source.serverKey, settings.onError);
  }

  /** Opens a session. Whatever was opened on the way is closed again if it fails. */
  async open(): Promise<Opened> {
    try {
      const transport = this.#source.next();
      const ways = isExchangeTransport(transport) ? this.#exchanges(transport) : this.#channel(await this.#start(transport));
      const session = await this.#openBy(ways, async () => (await this.#remembered.recall()) === 'legacy');
      return { session, close: () => this.#close() };
    } catch (error) {
      await this.#close();
      throw this.#explain(error);
    }
  }

  /** Opens a session anew on a channel that was lost and is open again, or will be. @param last The session that it carried before. */
  resume(link: ChannelLink, last: Session): Promise<Session> {
    return this.#openBy(this.#channel(link), () => last.revision.era === 'legacy');
  }

  async #openBy(ways: Ways, isKnownLegacy: () => boolean | Promise<boolean>): Promise<Session> {
    const [offered] = this.#legacy;
    if (offered && (this.#modern.length === 0 || (await isKnownLegacy()))) {
      try {
        return await this.#handshake(await ways.legacy(), offered);
      } catch (error) {
        if (this.#modern.length === 0 || !isWrongEra(error)) throw error;
        await this.#remembered.forget();
        await ways.renew?.();
      }
    }
    const link = await ways.modern();
    if (!this.#discovers) return this.#openUnasked(link);
    return this.#conclude(await this.#ask(link), link, ways);
  }

  // ---- the ways to a server

  #channel(started: ChannelLink): Ways {
    let link = started;
    const current = (): Promise<ChannelLink> => Promise.resolve(link);
    const renew = async (): Promise<void> => {
      this.#links.delete(link);
      await link.close();
      link = await this.#start(this.#source.next() as Transport);
    };
    return { modern: current, legacy: current, renew: this.#source.canRepeat ? renew : undefined };
  }

  #exchanges(transport: ExchangeTransport & Partial<Transport>): Ways {
    const modern = async (): Promise<Link> => {
      const link = new ExchangeLink(transport, this.#settings);
      this.#links.add(link);
      await link.start();
      return link;
    };
    const legacy = async (): Promise<ChannelLink> => {
      if (isLegacyOpener(transport)) return this.#start(await transport.openLegacy());
      throw this.#mismatch('the server speaks the legacy era only, for which this transport cannot open a channel: use another transport');
    };
    return { modern, legacy, renew: undefined };
  }

  async #start(transport: Transport): Promise<ChannelLink> {
    const link = new ChannelLink(transport, this.#settings);
    this.#links.add(link);
    this.#signal.throwIfAborted();
    await link.start();
    return link;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#links].map((link) => link.close()));
  }

  // ---- asking

  /**
   * Asks in one modern version after the other, as long as the server names another one that was not tried. One that refuses the first
   * version and names none but that one contradicts itself, and is taken at its later word: it is asked a second time.
   */
  async #ask(link: Link): Promise<Finding> {
    let untried = this.#modern;
    let next = untried[0];
    let finding: Finding = { kind: 'legacy', error: undefined };
    for (let asks = 1; next; asks += 1) {
      const asked = next;
      finding = await this.#askInTime(link, asked);
      untried = untried.filter((revision) => revision !== asked);
      const supported = (finding.kind === 'refused' && finding.supported) || [];
      next = chooseModern(supported, untried) ?? (asks === 1 ? chooseModern(supported, [asked]) : undefined);
    }
    return finding;
  }

  #lateFinding: Finding | undefined;

  /** A channel whose server may be legacy counts as silent after a while. The answer is still noted if it comes. */
  async #askInTime(link: Link, revision: Revision): Promise<Finding> {
    const { clock, initializeTimeoutMs } = this.#settings;
    const signal = this.#signal;
    if (this.#legacy.length === 0 || !(link instanceof ChannelLink)) {
      return probe(link, revision, this.#settings, { signal, timeoutMs: initializeTimeoutMs });
    }
    const answer = probe(link, revision, this.#settings, { signal, timeoutMs: Infinity });
    const silence = new Promise<Finding>((resolve) => {
      const timer = clock.schedule(() => resolve({ kind: 'silent' }), this.#probeTimeoutMs, { keepAlive: true });
      void answer.then((finding) => {
        timer.cancel();
        this.#lateFinding = finding;
      });
    });
    return Promise.race([answer, silence]);
  }

  // ---- what follows

  async #conclude(finding: Finding, link: Link, ways: Ways): Promise<Session> {
    const found = this.#read(finding, link, ways.renew !== undefined);
    if (!('offered' in found)) return this.#keep(found);
    const { offered } = found;
    // Some servers of the legacy era end at the first message that they do not know.
    if (finding.kind === 'died') await ways.renew?.();
    try {
      const session = await this.#handshake(await ways.legacy(), offered);
      return finding.kind === 'silent' ? session : await this.#keep(session);
    } catch (error) {
      // The silence was not that of a legacy server, if the answer came after all: it is modern and was slow.
      const late = finding.kind === 'silent' ? this.#lateFinding : undefined;
      if (late?.kind !== 'discovered') throw error;
      const second = this.#read(late, link, false);
      if ('offered' in second) throw error;
      return this.#keep(second);
    }
  }

  /** A session with a modern server, or what to offer a legacy one. A server that lists only legacy versions is spoken to in the legacy era. */
  #read(finding: Finding, link: Link, canRenew: boolean): Session | { readonly offered: Revision } {
    const [newestLegacy] = this.#legacy;
    if (finding.kind === 'failed') throw finding.error;
    if (finding.kind === 'died') {
      if (newestLegacy && canRenew) return { offered: newestLegacy };
      throw link instanceof ChannelLink ? diedOnProbe(finding.error, newestLegacy !== undefined) : finding.error;
    }
    if (finding.kind === 'legacy' || finding.kind === 'silent') {
      if (newestLegacy) return { offered: newestLegacy };
      throw this.#notModern(finding.kind === 'legacy' ? finding.error : undefined);
    }
    const refusal = finding.kind === 'refused' ? finding.error : undefined;
    const supported = finding.kind === 'discovered' ? finding.result.supportedVersions : finding.supported;
    if (!supported) throw refusal;
    if (finding.kind === 'discovered') {
      const modern = chooseModern(supported, this.#modern);
      if (modern) return new ModernSession(link, modern, this.#modern, finding.result, this.#settings);
    }
    const offered = chooseLegacy(supported, this.#legacy);
    if (offered) return { offered };
    const theirs = supported.join(', ') || 'no version';
    throw this.#mismatch(
      `the server speaks ${theirs}, this client speaks ${this.#versions.join(', ')}: update one of the two`,
      refusal,
      supported,
    );
  }

  /** Takes it that the server speaks the newest modern version; a request that it refuses for that is sent again in another. */
  #openUnasked(link: Link): Session {
    const [newest] = this.#modern;
    if (!newest) throw this.#mismatch('this client speaks no modern revision');
    return new ModernSession(link, newest, this.#modern, undefined, this.#settings);
  }

  #handshake(link: ChannelLink, offered: Revision): Promise<Session> {
    return handshake(link, { offered, acceptable: this.#legacy, signal: this.#signal }, this.#settings);
  }

  async #keep(session: Session): Promise<Session> {
    const { era, version } = session.revision;
    await this.#remembered.keep({ era, protocolVersion: version });
    return session;
  }

  // ---- what is wrong

  get #versions(): readonly string[] {
    return supportedVersions([...this.#modern, ...this.#legacy]);
  }

  #mismatch(message: string, cause?: Error, supported: readonly string[] = []): UnsupportedVersionError {
    return new UnsupportedVersionError(message, supported, this.#versions, cause && { cause });
  }

  /** Why a client that is pinned to the modern era goes no further. An answer that says nothing of the server is passed on as it is. */
  #notModern(cause: Error | undefined): Error {
    const isHttp = cause instanceof ExchangeHttpError;
    if (isHttp && saysNothing(cause)) return cause;
    const answer = isHttp ? `. It answered: ${cause.message}` : '';
    const message =
      'the server does not speak the modern era, which this client is pinned to: leave "era" out to speak the one that it does';
    return this.#mismatch(message + answer, cause);
  }

  /** A server that writes something else than messages is silent for this client: what the transport complained of says why. */
  #explain(error: unknown): unknown {
    if (!(error instanceof TimeoutError)) return error;
    const cause = [...this.#links]
      .map((link) => (link instanceof ChannelLink ? link.lastError : undefined))
      .find((one) => one !== undefined);
    const { timeoutMs } = error;
    const silence = `the server did not answer the first message within ${timeoutMs} ms: see that it speaks MCP, or raise requestTimeoutMs`;
    return new TimeoutError(cause ? `${silence}. Meanwhile: ${cause.message}` : silence, timeoutMs, cause && { cause });
  }
}

/** The revisions that may be spoken, newest first. */
function pinnedRevisions({ era, protocolVersion, revisions = REVISIONS }: EraOptions): readonly Revision[] {
  if (era !== undefined && era !== 'legacy' && era !== 'modern') {
    throw new TypeError(`The option "era" must be "legacy" or "modern", got ${JSON.stringify(era)}: leave it out to have it found out`);
  }
  const spoken = era === undefined ? revisions : revisionsOf(era, revisions);
  if (protocolVersion === undefined) return spoken;
  const version = chooseModern([protocolVersion], spoken) ?? chooseLegacy([protocolVersion], spoken);
  if (version) return [version];
  const known = supportedVersions(spoken);
  const message = `this client does not speak protocolVersion ${JSON.stringify(protocolVersion)}: use one of ${known.join(', ')}`;
  throw new UnsupportedVersionError(message, [], known);
}

/** A server that was legacy may refuse the handshake or end at it. Everything else says nothing about the era. */
function isWrongEra(error: unknown): boolean {
  if (error instanceof ExchangeHttpError) return [400, 404, 405, 406, 415].includes(error.status);
  return error instanceof RemoteError || error instanceof UnsupportedVersionError || error instanceof ConnectionClosedError;
}

/** A wrong path, unless it is the method that is not there; a server that failed; or a page for people. */
function saysNothing({ status, rpcError, headers }: ExchangeHttpError): boolean {
  if (status >= 500) return true;
  if (status === 404) return rpcError?.code !== METHOD_NOT_FOUND;
  return rpcError === undefined && headers?.['content-type']?.startsWith('text/html') === true;
}

function diedOnProbe(cause: Error, isLegacyWanted: boolean): Error {
  const remedy = isLegacyWanted
    ? 'if it is of the legacy era, give connect() a factory of transports, or pin era: "legacy"'
    : 'see what it wrote to stderr';
  return new ConnectionClosedError(`the server ended at the first message: ${remedy}`, { cause });
}
