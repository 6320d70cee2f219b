/**
 * GET and DELETE of a legacy session: the stream for what belongs to no request, the resumption of any stream, and the session's end.
 *
 * @see 2025-11-25 basic/transports#listening-for-messages-from-the-server
 */

import { decodeEventId, LAST_EVENT_ID_HEADER, namesEventStream } from '../../headers.ts';
import { SSE_KEEP_ALIVE } from '../../sse/encode-event.ts';
import { watchExpiry } from '../http/authorize.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { HttpRefusal } from '../http/refusal.ts';
import type { HttpSession } from './http-session.ts';
import { findSession } from './legacy-post.ts';
import { createStreamId, SessionStream, streamKindOf, unknownEvent } from './session-stream.ts';

/** Opens a stream, or goes on with one that broke. */
export async function openGetStream(http: HttpExchange): Promise<void> {
  if (!namesEventStream(http.header('accept'))) throw new HttpRefusal(406, 'A GET opens an event stream: send "Accept: text/event-stream"');
  const session = await findSession(http);
  const get: Get = { http, session, release: http.shared.holdStream(http.limitKey) };
  try {
    const lastEvent = http.header(LAST_EVENT_ID_HEADER);
    if (lastEvent !== undefined && session.log !== undefined && session.revision?.http.resumable === true)
      await resumeStream(get, decodeEventId(lastEvent));
    else openStream(get);
  } catch (error) {
    // A stream that is open counts itself out.
    if (!http.hasAnswered) get.release();
    throw error;
  }
}

/** Ends a session. */
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
  const stream = new SessionStream(createStreamId('get'), session.revision?.http.resumable === true ? session.log : undefined);
  const sse = openSse(get, stream);
  // Some platforms and proxies hold the head back until there is a body.
  void sse.write(SSE_KEEP_ALIVE);
  stream.connect(sse, retryMsOf(get));
  session.addGet(stream);
}

async function resumeStream(get: Get, lastEventId: string): Promise<void> {
  const { session } = get;
  const found = await session.log?.store.replay(session.id, lastEventId);
  if (found === undefined) throw unknownEvent();
  const isGet = streamKindOf(found.streamId) === 'get';
  // A POST's stream that is not here has ended, or goes on elsewhere: the client gets what there is, and may ask again.
  const stream = session.findStream(found.streamId) ?? new SessionStream(found.streamId, session.log, !isGet);
  const open = (): ResponseStream => {
    // At once: what has no request is to go this way while the replay still waits for its reader.
    if (isGet) session.addGet(stream);
    return openSse(get, stream);
  };
  await stream.resume({ lastEventId, missed: found.events }, open, retryMsOf(get));
}

/** When a client should come back, in revisions that can say so. */
function retryMsOf({ http, session }: Get): number | undefined {
  return session.revision?.http.polling === true ? http.shared.settings.retryMs : undefined;
}

function openSse(get: Get, stream: SessionStream): ResponseStream {
  const { http, session, release } = get;
  // Answers can wait for a slow reader; notifications on a GET stream cannot.
  const sse = http.openStream(streamKindOf(stream.id) === 'get' ? 'cut' : 'wait');
  const expiry = watchExpiry(http.shared.settings.clock, http.auth, () => stream.pause(retryMsOf(get)));
  sse.onClose(() => {
    expiry?.cancel();
    release();
    session.dropGet(stream);
  });
  return sse;
}
