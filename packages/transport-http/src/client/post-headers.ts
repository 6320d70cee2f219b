/** What every POST says of itself. @see 2026-07-28 basic/transports/streamable-http#sending-messages */

export const POST_HEADERS: Readonly<Record<string, string>> = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};
