/** The two ways in which a client's requests are sent: whatever it does, it does over both. */

import { type HttpTransportOptions } from '@mortise/transport-http/client';
import { nodeHttpSender } from '@mortise/transport-http/node';

export interface SenderCase {
  readonly name: string;
  readonly options: HttpTransportOptions;
}

export const SENDERS: readonly SenderCase[] = [
  { name: 'fetch', options: {} },
  { name: 'node:http', options: { sender: nodeHttpSender() } },
];
