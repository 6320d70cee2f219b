/** `/server/stdio`: serves the client that started this process. */

import { StdioServerTransport as Stdio } from '@mortise/transport-stdio/server';
import type { Readable, Writable } from 'node:stream';

/** v1's server transport over standard input and output. */
export class StdioServerTransport extends Stdio {
  /** @param options.maxBufferSize The longest message in bytes. @default 10 MiB */
  constructor(stdin?: Readable, stdout?: Writable, options?: { maxBufferSize?: number }) {
    super(stdin, stdout, { maxMessageBytes: options?.maxBufferSize });
  }
}
