/** Logs the messages of a transport: kinds, methods and ids, never their contents. */

import { checkOptions } from './check-options.ts';
import { guardLogger, type Logger } from './instruments.ts';
import { classifyMessage } from './message.ts';
import type { TransportFactory, Transport } from './transport/transport.ts';
import { watchMessages, wrapTransport } from './wrap-transport.ts';

/** The options of `withLogging`. */
export interface LoggingOptions {
  /** Gets a line for each event of the transport. */
  readonly logger: Logger;
  /**
   * The name of the transport in each line.
   *
   * @default 'transport'
   */
  readonly label?: string | undefined;
}

/**
 * Logs each message, each exchange and the close of a transport as `debug`, and its errors as `warning`. Never logs payloads, which may hold secrets.
 */
export function withLogging<T extends Transport | TransportFactory>(inner: T, options: LoggingOptions): T {
  checkOptions('withLogging options', options, { logger: 'object', label: 'string' });
  const { label = 'transport' } = options;
  const logger = guardLogger(options.logger);
  return wrapTransport(inner, {
    ...watchMessages((direction, message) => logger.log('debug', `${label} ${direction === 'out' ? '->' : '<-'} ${describe(message)}`)),
    error(error, next) {
      logger.log('warning', `${label} error: ${error.message}`);
      next(error);
    },
    close(next) {
      logger.log('debug', `${label} closed`);
      next();
    },
  });
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `batch of ${value.length}`;
  const message = value as { readonly id?: unknown; readonly method?: unknown; readonly error?: { readonly code?: unknown } };
  switch (classifyMessage(value)) {
    case 'request':
      return `request ${JSON.stringify(message.id)} ${quote(message.method)}`;
    case 'notification':
      return `notification ${quote(message.method)}`;
    case 'response':
      return `response ${JSON.stringify(message.id)}${message.error ? ` error ${String(message.error.code)}` : ''}`;
    default:
      return 'something that is not a message';
  }
}

/** Formats a method name for the log: shortened and on one line, because the peer chooses it. */
function quote(method: unknown): string {
  return JSON.stringify(String(method).slice(0, 100));
}
