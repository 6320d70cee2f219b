/** The message and the request that a handler serves, as async context. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { HandlerContext } from '@mortise/server';
import type { MessageExtraInfo } from '../types.ts';

/** What v1's transports tell of a message: whoever delivers one to our server runs that inside. */
export const incoming: AsyncLocalStorage<MessageExtraInfo | undefined> = new AsyncLocalStorage();

/** A request, until its handler has ended. */
export interface Running {
  readonly ctx: HandlerContext;
  isOver: boolean;
}

/** The request that is being handled: what `server.elicitInput()` in a handler belongs to. */
export const current: AsyncLocalStorage<Running> = new AsyncLocalStorage();
