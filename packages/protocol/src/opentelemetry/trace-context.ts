/**
 * Reads and writes the trace context in `_meta`, in the W3C formats. Malformed values are ignored, as W3C says, and never fail a
 * request.
 *
 * @see W3C Trace Context section 3; W3C Baggage section 3
 */

import {
  type BaggageEntry,
  baggageEntryMetadataFromString,
  type Context,
  createTraceState,
  isSpanContextValid,
  propagation,
  trace,
} from '@opentelemetry/api';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { META_BAGGAGE, META_TRACEPARENT, META_TRACESTATE } from '../model/meta.ts';

/** The form of a `traceparent` value. Versions after 00 may have more fields after the flags. Version ff is invalid. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const MAX_TRACESTATE_CHARACTERS = 8_192;
/** The limits that W3C Baggage sets for `baggage`, here in characters. */
const MAX_BAGGAGE_CHARACTERS = 8_192;
const MAX_BAGGAGE_ENTRIES = 64;
/** A key in `baggage`, which must be a token. @see RFC 9110 section 5.6.2 */
const BAGGAGE_KEY = /^[\w!#$%&'*+.^`|~-]+$/;

/** Returns the context `around` with the trace context and baggage of a peer's `_meta` added. */
export function readTraceContext(around: Context, meta: JsonObject): Context {
  const parsed = parseTraceparent(meta[META_TRACEPARENT]);
  const state = textOf(meta[META_TRACESTATE], MAX_TRACESTATE_CHARACTERS);
  let read = around;
  if (parsed) {
    const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
    read = trace.setSpanContext(read, { ...parsed, ...traceState, isRemote: true });
  }
  const entries = parseBaggage(textOf(meta[META_BAGGAGE], MAX_BAGGAGE_CHARACTERS));
  return entries.length === 0 ? read : propagation.setBaggage(read, propagation.createBaggage(Object.fromEntries(entries)));
}

/** Returns the `_meta` members for the trace context and baggage of a context; an empty object if it has neither. */
export function writeTraceContext(from: Context): JsonObject {
  const span = trace.getSpanContext(from);
  const members: Record<string, string> = {};
  if (span && isSpanContextValid(span)) {
    members[META_TRACEPARENT] = `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
    const state = span.traceState?.serialize();
    if (state !== undefined && state !== '') members[META_TRACESTATE] = state;
  }
  const baggage = writeBaggage(propagation.getBaggage(from)?.getAllEntries() ?? []);
  if (baggage !== '') members[META_BAGGAGE] = baggage;
  return members;
}

interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

function parseTraceparent(value: JsonValue | undefined): Parent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(textOf(value, 512) ?? '') ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
  return isSpanContextValid(parent) ? parent : undefined;
}

function parseBaggage(text = ''): readonly (readonly [string, BaggageEntry])[] {
  const entries: (readonly [string, BaggageEntry])[] = [];
  for (const member of text.split(',').slice(0, MAX_BAGGAGE_ENTRIES)) {
    const [pair = '', ...properties] = member.split(';');
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(at, 0)).trim();
    const value = decode(pair.slice(at + 1).trim());
    if (!BAGGAGE_KEY.test(key) || value === undefined) continue;
    const metadata = properties.map((property) => property.trim()).join(';');
    entries.push([key, metadata === '' ? { value } : { value, metadata: baggageEntryMetadataFromString(metadata) }]);
  }
  return entries;
}

function writeBaggage(entries: readonly (readonly [string, BaggageEntry])[]): string {
  let text = '';
  for (const [key, { value, metadata }] of entries.slice(0, MAX_BAGGAGE_ENTRIES)) {
    if (!BAGGAGE_KEY.test(key)) continue;
    const member = `${key}=${encodeURIComponent(value)}${metadata === undefined ? '' : `;${metadata.toString()}`}`;
    if (text.length + member.length + 1 > MAX_BAGGAGE_CHARACTERS) break;
    text += text === '' ? member : `,${member}`;
  }
  return text;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function textOf(value: JsonValue | undefined, maxCharacters: number): string | undefined {
  return typeof value === 'string' && value.length <= maxCharacters ? value : undefined;
}
