/**
 * The frames of `mortise.resume.v1` that are no messages. Each is a text frame of `!` and a JSON object, which no JSON-RPC message begins with:
 *
 * - `!{"channel":null}` from the client, first: open a channel. `!{"channel":"<id>","received":3}`: go on with one.
 * - `!{"channel":"<id>","received":5,"windowMs":60000}` from the server, first: go on; what came after the fifth message is sent again.
 * - `!{"ack":8}` from either: the first eight messages of this channel have come.
 *
 * Messages are counted from 1, by each side, over all sockets of a channel. A frame that is none of these ends the channel.
 */

/** The client's first frame. */
export interface ClientHello {
  readonly channel: string | null;
  readonly received: number;
}

/** The server's first frame. */
export interface ServerHello {
  readonly channel: string;
  readonly received: number;
  readonly windowMs: number;
}

/** Longer than any control frame can be. */
const MAX_LENGTH = 256;

export function isControlFrame(text: string): boolean {
  return text.startsWith('!');
}

export function encodeClientHello({ channel, received }: ClientHello): string {
  return `!${JSON.stringify(channel === null ? { channel } : { channel, received })}`;
}

export function encodeServerHello(hello: ServerHello): string {
  return `!${JSON.stringify(hello)}`;
}

export function encodeAck(count: number): string {
  return `!{"ack":${count}}`;
}

/** @returns undefined for what is no such frame. */
export function parseClientHello(text: string): ClientHello | undefined {
  const { channel, received } = parseFrame(text);
  if (channel === null) return { channel, received: 0 };
  return isId(channel) && isCount(received) ? { channel, received } : undefined;
}

/** @returns undefined for what is no such frame. */
export function parseServerHello(text: string): ServerHello | undefined {
  const { channel, received, windowMs } = parseFrame(text);
  return isId(channel) && isCount(received) && isCount(windowMs) ? { channel, received, windowMs } : undefined;
}

/** @returns undefined for what is no such frame. */
export function parseAck(text: string): number | undefined {
  const { ack } = parseFrame(text);
  return isCount(ack) ? ack : undefined;
}

function parseFrame(text: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_LENGTH || !isControlFrame(text)) return {};
  try {
    const value: unknown = JSON.parse(text.slice(1));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{16,64}$/.test(value);
}
