/** Gives a server `subscriptions/listen`, which is loaded when somebody first listens. */

import type { ListenFilter } from '@mortise/protocol/contracts';
import { onDemand } from './on-demand.ts';
import type { ServerCore } from './server-core.ts';

const withListen = onDemand(() => import('./listen.ts'));

/** @param filters Extensions' filters; more may be added later. */
export function addListen(core: ServerCore, filters: readonly ListenFilter[]): void {
  core.setMethod('subscriptions/listen', {
    isBounded: false,
    run: (params, call) => withListen(({ listen }) => listen(params, call, filters)),
  });
}
