/** A client that does as it likes: raw upgrades, raw frames. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { closeLater } from './feature-server.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

export interface RawUpgrade {
  readonly path?: string;
  readonly method?: string;
  /** Lines of the head after the request line; the usual ones where left out. */
  readonly lines?: readonly string[];
  /** More lines. */
  readonly more?: readonly string[];
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  /** What came after the head until the server ended the socket; only read for refusals. */
  readonly body: string;
  readonly socket: Socket;
  /** Resolves to all that the server sends, once it ends the socket. */
  readonly ended: Promise<Buffer>;
}

export function usualLines(port: number): string[] {
  return [
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Key: ${KEY}`,
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: mcp',
  ];
}

/** Sends an upgrade and reads the head of the answer. */
export async function upgrade(port: number, { path = '/mcp', method = 'GET', lines, more = [] }: RawUpgrade = {}): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  closeLater(() => socket.destroy());
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${[`${method} ${path} HTTP/1.1`, ...(lines ?? usualLines(port)), ...more].join('\r\n')}\r\n\r\n`);
  const head = await new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('latin1');
      if (text.includes('\r\n\r\n')) resolve(text.slice(0, text.indexOf('\r\n\r\n')));
    });
    void ended.then(() => resolve(''));
  });
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0);
  const body = status === 101 ? '' : (await ended).toString().slice(head.length + 4);
  return { status, head, body, socket, ended };
}

const MASK = Buffer.from([1, 2, 3, 4]);

/** A frame as a client sends it, masked. */
export function frameOf(
  opcode: number,
  payload: Uint8Array | string,
  { isLast = true, length }: { isLast?: boolean; length?: number } = {},
): Buffer {
  const data = Buffer.from(payload as string);
  const masked = data.map((byte, index) => byte ^ (MASK[index % 4] ?? 0));
  const claimed = length ?? data.length;
  const head = Buffer.alloc(claimed < 126 ? 2 : 10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | Math.min(claimed, 127);
  if (claimed >= 126) {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(claimed), 2);
  }
  return Buffer.concat([head, MASK, masked]);
}

/** The code of the close frame at the end of what a server sent. */
export function closeCodeOf(sent: Buffer): number | undefined {
  for (let at = sent.indexOf('\r\n\r\n') + 4; at + 1 < sent.length;) {
    const opcode = (sent[at] ?? 0) & 0x0f;
    const short = (sent[at + 1] ?? 0) & 0x7f;
    const [length, header] =
      short === 126 ? [sent.readUInt16BE(at + 2), 4] : short === 127 ? [Number(sent.readBigUInt64BE(at + 2)), 10] : [short, 2];
    if (opcode === 8) return sent.readUInt16BE(at + header);
    at += header + length;
  }
  return undefined;
}
