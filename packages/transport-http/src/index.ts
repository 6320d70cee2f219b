/**
 * `@mortise/transport-http`: what clients and servers share: errors, header encodings and events. See also `/server`, `/node`, `/client`.
 */

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
