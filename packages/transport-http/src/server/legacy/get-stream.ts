/**
 * GET and DELETE in a legacy session. GET opens the stream for messages that belong to no request, or resumes a stream. DELETE ends the
 * session.
 *
 * @see 2025-11-25 basic/transports#listening-for-messages-from-the-server
 */

import type { RequestId } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { StoredStream } from '@mortise/protocol/contracts';
import { decodeEventId, LAST_EVENT_ID_HEADER, namesEventStream } from '../../headers.ts';
import { SSE_KEEP_ALIVE } from '../../sse/encode-event.ts';
import { watchExpiry } from '../http/authorize.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { HttpRefusal } from '../http/refusal.ts';
import type { HttpSession } from './http-session.ts';
import { findSession } from './legacy-post.ts';
import { unknownSession } from './session-table.ts';
import { createStreamId, resumedAgain, SessionStream, streamKindOf, unknownEvent } from './session-stream.ts';

/** How often a machine reads what another has stored on a stream that it sends to the client, in milliseconds. */
const FOLLOW_MS = 1000;
/** After how many times without news it asks whether that machine lives. */
const SILENT_READS = 2;

/** Handles a GET: opens the stream for messages that belong to no request, or resumes the stream named by `Last-Event-ID`. */
export async function openGetStream(http: HttpExchange): Promise<void> {
  if (!namesEventStream(http.header('accept')))
    throw new HttpRefusal(406, 'This is an MCP endpoint: a GET opens an event stream and needs "Accept: text/event-stream"');
  const session = await findSession(http);
  const get: Get = { http, session, release: http.shared.holdStream(http.limitKey) };
  try {
    const lastEvent = http.header(LAST_EVENT_ID_HEADER);
    if (lastEvent !== undefined && session.eventLog !== undefined && session.revision?.http.resumable === true)
      await resumeStream(get, decodeEventId(lastEvent));
    else openStream(get);
  } catch (error) {
    // An open stream releases its count itself.
    if (!http.hasAnswered) get.release();
    throw error;
  }
}

/** Handles a DELETE: ends the session named by `Mcp-Session-Id`. */
export async function endSession(http: HttpExchange): Promise<void> {
  await http.shared.sessions.end(await findSession(http));
  http.empty(204);
}

interface Get {
  readonly http: HttpExchange;
  readonly session: HttpSession;
  readonly release: () => void;
}

function openStream(get: Get): void {
  const { session } = get;
  const stream = new SessionStream(createStreamId('get'), session.revision?.http.resumable === true ? session.eventLog : undefined);
  const sse = openSse(get, stream);
  // Some platforms and proxies send the headers only with the first part of the body.
  void sse.write(SSE_KEEP_ALIVE);
  stream.connect(sse, retryMsOf(get));
  session.addGet(stream);
}

async function resumeStream(get: Get, lastEventId: string): Promise<void> {
  const { http, session } = get;
  const found = await session.eventLog?.store.replay(session.id, lastEventId);
  if (found === undefined) throw unknownEvent();
  const isGet = streamKindOf(found.streamId) === 'get';
  const known = session.findStream(found.streamId);
  const stream = known ?? new SessionStream(found.streamId, session.eventLog);
  // The stream of a POST that is not here has ended, or another machine stores its events.
  const isGuest = !isGet && known === undefined;
  const isElsewhere = isGuest && found.about !== undefined && found.isFinished !== true && http.shared.sessions.hasOthers;
  // Before the replay, so that new messages already use this stream.
  if (isGet) session.addGet(stream);
  if (isGuest) session.addGuest(stream);
  // Also if it is known here: another machine may have resumed it without this one hearing of it.
  if (isGet) await stream.takeOver();
  if (isGet && known === undefined) void takeGet(get, stream.id);
  else if (!isElsewhere) await http.shared.sessions.takeStream(session, stream.id);
  if (isGuest && !isElsewhere) {
    await endOrphan(stream, found);
    await stream.finish();
  }
  const open = (): ResponseStream => {
    if (isGuest && !session.isGuest(stream)) throw resumedAgain();
    const sse = openSse(get, stream);
    // Again, because another GET may have taken its place before it was connected.
    if (isGet) session.addGet(stream);
    return sse;
  };
  const sent = await stream.resume({ lastEventId, missed: found.events }, open, retryMsOf(get)).finally(() => {
    if (!stream.isConnected) session.dropGuest(stream);
  });
  if (isElsewhere) void follow(get, stream, { first: lastEventId, last: sent });
}

/** Takes a GET stream from another machine. If that is gone, nobody has kept what changed in between: the client reads again what it follows. */
async function takeGet({ http, session }: Get, streamId: string): Promise<void> {
  if (!(await http.shared.sessions.isHeldElsewhere(session, streamId, true)) && !session.isClosed) session.endpointSession.announceAll();
}

/** Sends what another machine stores on the stream of its call, until the call ends, its machine is gone, or the client leaves. */
async function follow(get: Get, stream: SessionStream, ids: { readonly first: string; readonly last: string }): Promise<void> {
  const { http, session } = get;
  const { sessions, settings } = http.shared;
  let [silentReads, news, isGone] = [0, 0, false];
  // Reads go on meanwhile: what they find shows that the machine lives.
  const ask = async (isTaken: boolean): Promise<void> => {
    const before = news;
    isGone = !(await sessions.isHeldElsewhere(session, stream.id, isTaken)) && news === before;
  };
  try {
    void ask(true);
    for (let last = ids.last; ;) {
      await new Promise<void>((resolve) => void settings.clock.schedule(resolve, FOLLOW_MS));
      const next = session.isClosed ? undefined : await stream.follow(last);
      if (next === undefined) break;
      [silentReads, news] = next === last ? [silentReads + 1, news] : [0, news + 1];
      last = next;
      if (isGone) {
        const found = await session.eventLog?.store.replay(session.id, ids.first);
        if (found !== undefined) await endOrphan(stream, found);
        isGone = false;
      } else if (silentReads > 0 && silentReads % SILENT_READS === 0) void ask(false);
    }
  } catch (error) {
    http.shared.logFailure(error);
  }
  // The client comes back for what is missing.
  stream.pause(retryMsOf(get));
}

/** Ends the POST stream of a machine that is gone with errors that name it, unless the stream is finished. */
async function endOrphan(stream: SessionStream, { about, events, isFinished }: StoredStream): Promise<void> {
  if (about === undefined || isFinished === true || !(await stream.takeOver())) return;
  const answered = new Set(events.map(({ message }) => message && !('method' in message) && message.id));
  const message = `The machine that ran this call does not answer (${String(about['node'])}): its outcome is not known`;
  const lost = ((about['requests'] ?? []) as RequestId[]).filter((id) => !answered.has(id));
  await stream.abandon(lost.map((id) => ({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } })));
}

/** Returns the `retry` time to send to the client; undefined in revisions that have none. */
function retryMsOf({ http, session }: Get): number | undefined {
  return session.revision?.http.polling === true ? http.shared.settings.retryMs : undefined;
}

function openSse(get: Get, stream: SessionStream): ResponseStream {
  const { http, session, release } = get;
  // The client may have ended the session after it was found.
  if (session.isClosed) throw unknownSession();
  // Responses can wait for a slow reader. Notifications on a GET stream cannot.
  const sse = http.openStream(streamKindOf(stream.id) === 'get' ? 'cut' : 'wait');
  const expiry = watchExpiry(http.shared.settings.clock, http.auth, () => stream.pause(retryMsOf(get)));
  sse.onClose(() => {
    expiry?.cancel();
    release();
    session.dropGet(stream);
    session.dropGuest(stream);
  });
  return sse;
}
