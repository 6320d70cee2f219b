/** Content types by exact media type, and what a client accepts. @see RFC 9110 sections 8.3 and 12.5.1 */

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';

/** What an answer may be. */
export interface Accepts {
  readonly json: boolean;
  readonly sse: boolean;
}

export const BOTH: Accepts = { json: true, sse: true };

/** Tells whether a body is announced as JSON in UTF-8. Parameters other than `charset` mean nothing. */
export function isJsonContentType(value: string | undefined): boolean {
  if (value === JSON_TYPE) return true;
  if (value === undefined) return false;
  const [type, ...parameters] = value.split(';');
  if (type?.trim().toLowerCase() !== JSON_TYPE) return false;
  return parameters.every((parameter) => {
    const [name, charset] = parameter.split('=', 2);
    return name?.trim().toLowerCase() !== 'charset' || /^\s*"?utf-?8"?\s*$/i.test(charset ?? '');
  });
}

/**
 * Reads `Accept`. No header at all accepts everything, as HTTP has it; a media range with `q=0` accepts nothing.
 */
export function readAccepts(value: string | undefined): Accepts {
  // What nearly every client of MCP sends needs no parsing.
  if (value === undefined || value === 'application/json, text/event-stream') return BOTH;
  let json = false;
  let sse = false;
  for (const part of value.split(',')) {
    const [range, ...parameters] = part.split(';');
    if (parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))) continue;
    const type = range?.trim().toLowerCase();
    if (type === '*/*' || type === JSON_TYPE || type === 'application/*') json = true;
    if (type === '*/*' || type === SSE_TYPE || type === 'text/*') sse = true;
  }
  return { json, sse };
}

/** Tells whether `Accept` names event streams in so many words, as a GET must. */
export function namesEventStream(value: string | undefined): boolean {
  return value !== undefined && value.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === SSE_TYPE);
}
