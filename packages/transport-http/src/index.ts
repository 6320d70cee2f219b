/** `@mortise/transport-http`: errors and codecs of both sides. Servers are at `/server` and `/node`, the client at `/client`. */

// For programs.
export { type AnyHttpError, HttpOptionError, NoStreamError } from './errors.ts';

// For implementers of gateways, proxies and other transports.
export {
  decodeHeaderValue,
  encodeHeaderValue,
  LAST_EVENT_ID_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
} from './headers.ts';
export { SseDecoder, type SseEvent } from './sse/decode-events.ts';
export { encodeEvent, encodeMessageEvent, SSE_KEEP_ALIVE, type SseEventFields } from './sse/encode-event.ts';
