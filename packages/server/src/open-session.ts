/** Opens sessions for those who host them. What serves one is loaded with the first: a server on stdio never needs it. */

import type { JsonRpcMessage, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { Call, LegacySession, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { SessionFacts } from './era/session.ts';
import { onDemand } from './on-demand.ts';
import type { ServerCore } from './server-core.ts';
import { fromState, toState } from './session-state.ts';

const withHosting = onDemand(() => import('./hosted-session.ts'));

/** @throws {ProtocolError} -32602: `saved` has a layout or revision that this server does not know. */
export function openHostedSession(core: ServerCore, link: SessionLink, saved?: SessionState): LegacySession {
  const facts = saved && fromState(saved, core);
  const opened = withHosting(({ HostedSession }) => new HostedSession(core, link, facts));
  return opened instanceof Promise ? new OpeningSession(opened, facts) : opened;
}

/** The first session of a process, while its module is loaded. Messages stay in their order. */
class OpeningSession implements LegacySession {
  readonly #opening: Promise<LegacySession>;
  readonly #facts: SessionFacts | undefined;
  #session: LegacySession | undefined;

  constructor(opening: Promise<LegacySession>, facts: SessionFacts | undefined) {
    this.#facts = facts;
    this.#opening = opening.then((session) => (this.#session = session));
    // Whoever uses the session is told.
    this.#opening.catch(() => undefined);
  }

  get state(): SessionState {
    return this.#session?.state ?? toState(this.#facts);
  }

  async receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    return (await this.#opening).receive(message, call);
  }

  async close(): Promise<void> {
    await (await this.#opening).close();
  }
}
