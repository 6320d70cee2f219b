/** Finds out which era a server speaks and opens a session in it. The one switch between the eras. */

import {
  type ClockTimer,
  ConnectionClosedError,
  ExchangeHttpError,
  RemoteError,
  TimeoutError,
  type Transport,
} from '@mortise/jsonrpc-core';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { type ExchangeTransport, isExchangeTransport, isLegacyOpener } from '@mortise/jsonrpc-core/transport';
import { type Era, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { chooseLegacy, chooseModern } from '@mortise/protocol/revisions';
import { ChannelLink } from '../channel-link.ts';
import type { ClientOptions } from '../client-options.ts';
import { EraMismatchError, UnsupportedVersionError } from '../errors.ts';
import { type Link, undecidedHost } from '../link.ts';
import type { Session, SessionSettings } from '../session.ts';
import type { TransportSource } from '../transport-source.ts';
import { processEraMemory } from './era-memory.ts';
import { pinnedRevisions } from './pinned-revisions.ts';
import { type Finding, probe } from './probe.ts';
import { ModernSession } from './stateless.ts';
import { Verdicts } from './verdicts.ts';

/** What opening a session needs beside the transports. */
export interface OpenerSettings {
  readonly session: SessionSettings;
  readonly options: Pick<ClientOptions, 'era' | 'protocolVersion' | 'revisions' | 'discovers' | 'probeTimeoutMs' | 'eraMemory' | 'eraKey'>;
  readonly signal?: AbortSignal | undefined;
}

/** How the legacy era is to be opened, and why not the modern one. */
interface LegacyPlan {
  readonly offered: Revision;
  /** Whether the server itself said something from which its era is known. */
  readonly isCertain: boolean;
}

type Outcome = { readonly session: Session } | LegacyPlan;

/** A session and everything that was opened for it. */
export interface Opened {
  readonly session: Session;
  close(): Promise<void>;
}

/** Opens one session; made anew for each. */
export class SessionOpener {
  readonly #source: TransportSource;
  readonly #settings: SessionSettings;
  readonly #signal: AbortSignal | undefined;
  readonly #modern: readonly Revision[];
  readonly #legacy: readonly Revision[];
  readonly #probeTimeoutMs: number;
  readonly #discovers: boolean;
  readonly #verdicts: Verdicts;
  readonly #links = new Set<Link>();

  constructor(source: TransportSource, { session, options, signal }: OpenerSettings) {
    const spoken = pinnedRevisions(options);
    this.#source = source;
    this.#settings = session;
    this.#signal = signal;
    this.#modern = revisionsOf('modern', spoken);
    this.#legacy = revisionsOf('legacy', spoken);
    this.#probeTimeoutMs = options.probeTimeoutMs ?? 3000;
    this.#discovers = options.discovers ?? true;
    if (!this.#discovers && this.#legacy.length > 0) {
      throw new TypeError('discovers: false needs era: "modern": a server whose era is not known must be asked');
    }
    this.#verdicts = new Verdicts(options.eraMemory ?? processEraMemory, options.eraKey ?? source.eraKey, session.onError);
  }

  /** Opens a session. Whatever was opened on the way is closed again if it fails. */
  async open(): Promise<Opened> {
    try {
      const transport = this.#source.next();
      const session = isExchangeTransport(transport) ? await this.#openByExchange(transport) : await this.#openOnChannel(transport);
      return { session, close: () => this.#close() };
    } catch (error) {
      await this.#close();
      throw this.#explain(error);
    }
  }

  /** A server that writes something else than messages is silent for this client; what was heard instead says why. */
  #explain(error: unknown): unknown {
    const heard = [...this.#links]
      .map((link) => (link instanceof ChannelLink ? link.lastError : undefined))
      .find((one) => one !== undefined);
    if (!(error instanceof TimeoutError)) return error;
    const { timeoutMs } = error;
    const silence = `the server did not answer the first message within ${timeoutMs} ms: see that it speaks MCP, or raise initializeTimeoutMs`;
    return heard
      ? new TimeoutError(`${silence}. Meanwhile: ${heard.message}`, timeoutMs, { cause: heard })
      : new TimeoutError(silence, timeoutMs);
  }

  /**
   * Opens a session anew on a channel that was lost and is open again, or will be.
   *
   * @param era The era that was spoken on it before.
   */
  async resume(link: ChannelLink, era: Era): Promise<Session> {
    const [newestLegacy] = this.#legacy;
    if (era === 'legacy' && newestLegacy) {
      try {
        return await this.#handshake(link, newestLegacy);
      } catch (error) {
        if (this.#modern.length === 0 || !(error instanceof RemoteError)) throw error;
      }
    }
    return this.#discovers ? this.#probeChannel(link) : this.#openUnasked(link);
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#links].map((link) => link.close()));
  }

  // ---- a channel: the same one carries both eras

  async #openOnChannel(transport: Transport): Promise<Session> {
    let link = await this.#startChannel(transport);
    const [newestLegacy] = this.#legacy;
    if (this.#modern.length === 0 && newestLegacy) return this.#handshake(link, newestLegacy);
    if (!this.#discovers) return this.#openUnasked(link);
    if (newestLegacy && (await this.#verdicts.recall()) === 'legacy') {
      const session = await this.#handshake(link, newestLegacy).catch((error: unknown) => this.#forgetIfWrong(error));
      if (session) return session;
      if (this.#source.canRepeat) link = await this.#replaceChannel(link);
    }
    return this.#probeChannel(link);
  }

  async #probeChannel(link: ChannelLink): Promise<Session> {
    const late = new LateAnswer();
    const finding = await this.#ask((revision) => this.#askInTime(link, revision, late));
    if (finding.kind !== 'died') return this.#conclude(finding, link, late);
    const [offered] = this.#legacy;
    if (!offered || !this.#source.canRepeat) throw diedOnProbe(finding.error, offered !== undefined);
    // Some servers of the legacy era end at the first message that they do not know.
    return this.#verdicts.keep(await this.#handshake(await this.#replaceChannel(link), offered));
  }

  async #replaceChannel(spoilt: ChannelLink): Promise<ChannelLink> {
    this.#links.delete(spoilt);
    await spoilt.close();
    return this.#startChannel(this.#source.next() as Transport);
  }

  async #conclude(finding: Finding, link: ChannelLink, late: LateAnswer): Promise<Session> {
    const outcome = this.#weigh(finding, link);
    if ('session' in outcome) return this.#verdicts.keep(outcome.session);
    try {
      const session = await this.#handshake(link, outcome.offered);
      return outcome.isCertain ? await this.#verdicts.keep(session) : session;
    } catch (error) {
      // Silence was taken for a legacy server, which it was not: it is modern and was slow.
      const answer = late.finding;
      if (outcome.isCertain || !answer || answer.kind === 'legacy') throw error;
      const second = this.#weigh(answer, link);
      if ('session' in second) return this.#verdicts.keep(second.session);
      throw error;
    }
  }

  /** A probe whose answer does not come in time counts as a legacy server's silence; the answer is still noted when it comes. */
  #askInTime(link: Link, revision: Revision, late: LateAnswer): Promise<Finding> {
    if (this.#legacy.length === 0) return this.#probe(link, revision);
    const answer = this.#probe(link, revision, Infinity);
    let timer: ClockTimer | undefined;
    const silence = new Promise<Finding>((resolve) => {
      timer = this.#settings.clock.schedule(() => resolve({ kind: 'silent' }), this.#probeTimeoutMs, { keepAlive: true });
    });
    void answer.then((finding) => {
      timer?.cancel();
      late.finding = finding;
    });
    return Promise.race([answer, silence]);
  }

  async #startChannel(transport: Transport): Promise<ChannelLink> {
    const link = new ChannelLink(transport, undecidedHost, this.#settings);
    this.#links.add(link);
    this.#signal?.throwIfAborted();
    await link.start();
    return link;
  }

  // ---- exchanges: the legacy era has a channel of its own

  async #openByExchange(transport: ExchangeTransport & Partial<Transport>): Promise<Session> {
    const [newestLegacy] = this.#legacy;
    if (newestLegacy && (this.#modern.length === 0 || (await this.#verdicts.recall()) === 'legacy')) {
      const session = await this.#openLegacy(transport, newestLegacy).catch((error: unknown) => this.#forgetIfWrong(error));
      if (session) return session;
    }
    // Loaded by those who need it: a channel does not.
    const { ExchangeLink } = await import('../exchange-link.ts');
    const link = new ExchangeLink(transport, undecidedHost, this.#settings);
    this.#links.add(link);
    await link.start();
    if (!this.#discovers) return this.#openUnasked(link);
    const outcome = this.#weigh(await this.#ask((revision) => this.#probe(link, revision)), link);
    if ('session' in outcome) return this.#verdicts.keep(outcome.session);
    return this.#verdicts.keep(await this.#openLegacy(transport, outcome.offered));
  }

  async #openLegacy(transport: object, offered: Revision): Promise<Session> {
    if (!isLegacyOpener(transport)) {
      throw new EraMismatchError(
        'the server speaks the legacy era only, for which this transport cannot open a channel: use another transport',
      );
    }
    return this.#handshake(await this.#startChannel(await transport.openLegacy()), offered);
  }

  // ---- both

  /** Takes it that the server speaks the newest modern version; a request that it refuses for that is sent again in another. */
  #openUnasked(link: Link): Session {
    const [newest] = this.#modern;
    if (!newest) throw new UnsupportedVersionError('this client speaks no modern revision', [], []);
    return new ModernSession(link, newest, this.#modern, undefined, this.#settings);
  }

  #probe(link: Link, revision: Revision, timeoutMs: number = this.#settings.initializeTimeoutMs): Promise<Finding> {
    return probe(link, revision, this.#settings, { signal: this.#signal, timeoutMs });
  }

  /**
   * Asks in one modern version after the other, as long as the server names another one that was not tried. One that refuses the first
   * version and names none but that one contradicts itself, and is taken at its later word: it is asked a second time.
   */
  async #ask(ask: (revision: Revision) => Promise<Finding>): Promise<Finding> {
    let untried = this.#modern;
    let next = untried[0];
    let finding: Finding = { kind: 'legacy', error: undefined };
    for (let asks = 1; next; asks += 1) {
      const asked = next;
      finding = await ask(asked);
      untried = untried.filter((revision) => revision !== asked);
      const supported = (finding.kind === 'refused' && finding.supported) || [];
      next = chooseModern(supported, untried) ?? (asks === 1 ? chooseModern(supported, [asked]) : undefined);
    }
    if (finding.kind === 'failed') throw finding.error;
    return finding;
  }

  /** What follows from a finding. A modern server is spoken to in the legacy era only if it offers no modern version but a legacy one. */
  #weigh(finding: Finding, link: Link): Outcome {
    const [newestLegacy] = this.#legacy;
    if (finding.kind === 'legacy' || finding.kind === 'silent') {
      if (newestLegacy) return { offered: newestLegacy, isCertain: finding.kind === 'legacy' };
      throw toMismatch(finding.kind === 'legacy' ? finding.error : undefined);
    }
    if (finding.kind === 'died' || finding.kind === 'failed') throw finding.error;
    const supported = finding.kind === 'discovered' ? finding.result.supportedVersions : finding.supported;
    if (!supported) throw (finding as { readonly error: Error }).error;
    const modern = finding.kind === 'discovered' ? chooseModern(supported, this.#modern) : undefined;
    if (modern && finding.kind === 'discovered')
      return { session: new ModernSession(link, modern, this.#modern, finding.result, this.#settings) };
    const offered = chooseLegacy(supported, this.#legacy);
    if (offered) return { offered, isCertain: true };
    const ours = supportedVersions([...this.#modern, ...this.#legacy]);
    throw new UnsupportedVersionError(
      `the server speaks ${supported.join(', ') || 'no version'}, this client speaks ${ours.join(', ')}: update one of the two`,
      supported,
      ours,
      finding.kind === 'refused' ? { cause: finding.error } : undefined,
    );
  }

  async #handshake(link: ChannelLink, offered: Revision): Promise<Session> {
    // Loaded by those who need it: a modern server does not.
    const { handshake } = await import('./handshake.ts');
    return handshake(link, { offered, acceptable: this.#legacy, signal: this.#signal }, this.#settings);
  }

  /** A remembered verdict is wrong if the server refuses the handshake, or ends at it; everything else says nothing about the era. */
  async #forgetIfWrong(error: unknown): Promise<undefined> {
    const isWrong = error instanceof RemoteError || error instanceof UnsupportedVersionError || error instanceof ConnectionClosedError;
    if (!(isWrong || isHttpRefusal(error)) || !this.#verdicts.hasKey || this.#modern.length === 0) throw error;
    await this.#verdicts.forget();
    return undefined;
  }
}

/** The address does not take such a message, which is not for want of permission or time. */
function isHttpRefusal(error: unknown): boolean {
  return error instanceof ExchangeHttpError && [400, 404, 405, 406, 415].includes(error.status);
}

/** Why a client that is pinned to the modern era goes no further. What says nothing of a server is told as it is, and not as another era. */
function toMismatch(cause: Error | undefined): Error {
  const isHttp = cause instanceof ExchangeHttpError;
  if (isHttp && saysNothing(cause)) return cause;
  const told = isHttp ? `. It answered: ${cause.message}` : '';
  return new EraMismatchError(
    `the server does not speak the modern era, which this client is pinned to: leave "era" out to speak the one that it does${told}`,
    { cause },
  );
}

/** A wrong path, unless it is the method that is not there; a server that failed; or a page for people. */
function saysNothing({ status, rpcError, headers }: ExchangeHttpError): boolean {
  if (status >= 500) return true;
  if (status === 404) return rpcError?.code !== METHOD_NOT_FOUND;
  return rpcError === undefined && headers?.['content-type']?.startsWith('text/html') === true;
}

/** The answer to a probe that was given up, if it comes after all. */
class LateAnswer {
  finding: Finding | undefined;
}

function diedOnProbe(cause: Error, isLegacyWanted: boolean): Error {
  const remedy = isLegacyWanted
    ? 'if it is of the legacy era, give connect() a factory of transports, or pin era: "legacy"'
    : 'see what it wrote to stderr';
  return new ConnectionClosedError(`the server ended at the first message: ${remedy}`, { cause });
}
