/** `/shared/stdio`: messages as lines of text, for transports that programs write themselves. */

import { serializeMessage as serialize } from '@mortise/jsonrpc-core/messages';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '../types.ts';

export const STDIO_DEFAULT_MAX_BUFFER_SIZE: number = 10 * 1024 * 1024;
const NEWLINE = 10;

/** Joins chunks of bytes, and cuts them into messages at line ends. */
export class ReadBuffer {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);

  /** @param options.maxBufferSize The most bytes that may wait for their line end. @default 10 MiB */
  constructor(options?: { maxBufferSize?: number | undefined }) {
    this.#maxBytes = options?.maxBufferSize ?? STDIO_DEFAULT_MAX_BUFFER_SIZE;
  }

  /** @throws {Error} The buffer would be too large; it is emptied. */
  append(chunk: Buffer): void {
    if (this.#bytes.length + chunk.length > this.#maxBytes) {
      this.clear();
      throw new Error(`ReadBuffer exceeded maximum size of ${this.#maxBytes} bytes`);
    }
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
  }

  /** Returns the next message, or null if none is complete. @throws The line is not a message. */
  readMessage(): JSONRPCMessage | null {
    const end = this.#bytes.indexOf(NEWLINE);
    if (end === -1) return null;
    const line = this.#bytes.toString('utf8', 0, end).replace(/\r$/u, '');
    this.#bytes = this.#bytes.subarray(end + 1);
    return deserializeMessage(line);
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0);
  }
}

/** @throws The text is not a JSON-RPC message. */
export function deserializeMessage(line: string): JSONRPCMessage {
  return JSONRPCMessageSchema.parse(JSON.parse(line));
}

export function serializeMessage(message: JSONRPCMessage): string {
  return `${serialize(message as Parameters<typeof serialize>[0])}\n`;
}
