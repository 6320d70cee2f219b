/**
 * GET and DELETE of a legacy session: the stream for what belongs to no request, the resumption of any stream, and the session's end.
 *
 * @see 2025-11-25 basic/transports#listening-for-messages-from-the-server
 */

import type { Revision } from '@mortise/protocol';
import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import { decodeEventId, LAST_EVENT_ID_HEADER } from '../headers.ts';
import { SSE_KEEP_ALIVE } from '../sse/encode-event.ts';
import type { Caller } from './hosted-call.ts';
import type { HostedSession } from './hosted-session.ts';
import type { HttpHost } from './http-host.ts';
import { findSession, readVersionHeader } from './legacy-post.ts';
import { namesEventStream } from './media-types.ts';
import { HttpRefusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import { createStreamId, SessionStream, streamKindOf, unknownEvent } from './session-stream.ts';
import type { SseStream } from './sse-stream.ts';
import { watchExpiry } from './token-expiry.ts';

/** Opens a stream, or goes on with one that broke. */
export async function serveGet(host: HttpHost, caller: Caller, reply: Reply): Promise<void> {
  if (!namesEventStream(caller.request.header('accept')))
    throw new HttpRefusal(406, 'A GET opens an event stream: send "Accept: text/event-stream"');
  const named = readVersionHeader(caller.request);
  const session = await findSession(host, caller);
  const revision = named ?? session.revision ?? ASSUMED_WITHOUT_HEADER;
  const release = host.holdStream(caller.limitKey);
  try {
    const lastEvent = caller.request.header(LAST_EVENT_ID_HEADER);
    const isResumed = lastEvent !== undefined && session.log !== undefined && revision.http.resumable;
    const get = { host, caller, session, revision, reply, release };
    if (isResumed) await resumeStream(get, decodeEventId(lastEvent));
    else openStream(get);
  } catch (error) {
    // A stream that is open counts itself out.
    if (!reply.hasAnswered) release();
    throw error;
  }
}

/** Ends a session. */
export async function serveDelete(host: HttpHost, caller: Caller, reply: Reply): Promise<void> {
  readVersionHeader(caller.request);
  const session = await findSession(host, caller);
  await host.sessions.end(session);
  reply.empty(204);
}

interface Get {
  readonly host: HttpHost;
  readonly caller: Caller;
  readonly session: HostedSession;
  readonly revision: Revision;
  readonly reply: Reply;
  readonly release: () => void;
}

function openStream(get: Get): void {
  const { host, session, revision } = get;
  const log = revision.http.resumable ? session.log : undefined;
  const stream = new SessionStream(createStreamId('get'), log);
  const sse = openSse(get, stream);
  // Some platforms and proxies hold the head back until there is a body.
  void sse.write(SSE_KEEP_ALIVE);
  stream.connect(sse, revision.http.polling ? host.settings.retryMs : undefined);
  session.addGet(stream);
}

async function resumeStream(get: Get, lastEventId: string): Promise<void> {
  const { host, session, revision } = get;
  const log = session.log;
  const found = await log?.store.replay(session.id, lastEventId);
  if (found === undefined) throw unknownEvent();
  const isStanding = streamKindOf(found.streamId) === 'get';
  // A POST's stream that is not at hand has ended, or goes on elsewhere: the client gets what there is, and may ask again.
  const stream = session.findStream(found.streamId) ?? new SessionStream(found.streamId, log, !isStanding);
  const open = (): SseStream => {
    // At once: what has no request is to go this way while the replay still waits for its reader.
    if (isStanding) session.addGet(stream);
    return openSse(get, stream);
  };
  await stream.resume({ lastEventId, missed: found.events }, open, revision.http.polling ? host.settings.retryMs : undefined);
}

function openSse({ host, caller, session, revision, reply, release }: Get, stream: SessionStream): SseStream {
  const { clock, retryMs } = host.settings;
  // Who answers a request can wait for a slow reader, others cannot.
  const sse = reply.openStream(streamKindOf(stream.id) === 'get' ? 'cut' : 'wait');
  const expiry = watchExpiry(clock, caller.auth, () => stream.pause(revision.http.polling ? retryMs : undefined));
  sse.onClose(() => {
    expiry?.cancel();
    release();
    session.dropGet(stream);
  });
  return sse;
}
