/**
 * The control frames of `mortise.resume.v1`. A control frame is a text frame: `!`, then a JSON object. No JSON-RPC message begins with `!`.
 *
 * - `!{"channel":null}`, the client's first frame: opens a channel.
 * - `!{"channel":"<id>","received":3}`, the client's first frame: continues a channel. The client has received three messages.
 * - `!{"channel":"<id>","received":5,"windowMs":60000}`, the server's first frame: the server has received five messages. It waits
 *   60,000 ms for a client that loses its connection.
 * - `!{"ack":8}`, from either side: acknowledges the first eight messages of this channel.
 *
 * Each side then sends again the messages that the other side has not received. Messages are numbered from 1, in each direction, over all
 * sockets of a channel. Any other frame that begins with `!` ends the channel.
 */

import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { SocketClosedError } from '../errors.ts';
import type { MessageSocket, ResumptionHost } from '../message-socket.ts';
import { CloseCode } from '../wire.ts';

/** The subprotocol for resumable connections, which clients offer beside `mcp`. A server that supports resumption chooses it. */
export const RESUME_PROTOCOL = 'mortise.resume.v1';

/** The client's first frame on a socket: opens a channel (`null`) or continues the named one. */
export interface ClientHello {
  readonly channel: string | null;
  readonly received: number;
}

/** The server's first frame on a socket: names the channel. */
export interface ServerHello {
  readonly channel: string;
  readonly received: number;
  readonly windowMs: number;
}

/** A length in characters that no valid control frame exceeds. */
const MAX_LENGTH = 256;

export function isControlFrame(text: string): boolean {
  return text.startsWith('!');
}

export function encodeFrame(frame: ClientHello | ServerHello | { readonly ack: number }): string {
  return `!${JSON.stringify(frame)}`;
}

/** Parses the client's first frame. @returns undefined for any other text. */
export function parseClientHello(text: string): ClientHello | undefined {
  const { channel, received } = parseFrame(text);
  if (channel === null) return { channel, received: 0 };
  return isId(channel) && isCount(received) ? { channel, received } : undefined;
}

/** Parses the server's first frame. @returns undefined for any other text. */
export function parseServerHello(text: string): ServerHello | undefined {
  const { channel, received, windowMs } = parseFrame(text);
  return isId(channel) && isCount(received) && isCount(windowMs) ? { channel, received, windowMs } : undefined;
}

/** Parses an acknowledgement. @returns The number of acknowledged messages; undefined for any other text. */
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

// ---- the first frame

const FIRST_FRAME_MS = 10_000;

/**
 * Reads the first text frame of a new socket and then pauses the socket. If this rejects, the socket is ended.
 *
 * @returns `first`, and in `rest` the frames that arrived before the pause took effect.
 * @throws {SocketClosedError} The socket ended before its first frame, or that frame was binary.
 * @throws {TimeoutError} Nothing arrived within 10 s.
 * @throws The abort reason of `signal`.
 */
export async function readFirst(
  socket: MessageSocket,
  { clock, signal }: ResumptionHost,
): Promise<{ readonly first: string; readonly rest: readonly string[] }> {
  const rest: string[] = [];
  const read = new Promise<string>((resolve, reject) => {
    let hasFirst = false;
    socket.listen({
      onText(text) {
        if (hasFirst) return void rest.push(text);
        hasFirst = true;
        socket.pause();
        resolve(text);
      },
      onBinary: () =>
        reject(new SocketClosedError(CloseCode.unsupportedData, 'The peer sent a binary frame, but MCP messages must be text frames')),
      onError: reject,
      onRoom: () => undefined,
      onEnd: (code, reason) => reject(SocketClosedError.ofPeer(code === CloseCode.normal ? CloseCode.abnormal : code, reason)),
    });
  });
  const limit = withTimeout(FIRST_FRAME_MS, signal, clock);
  try {
    return { first: await abortable(read, limit.signal), rest };
  } catch (error) {
    socket.terminate();
    throw error;
  } finally {
    limit.dispose();
  }
}
