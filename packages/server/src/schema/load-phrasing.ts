/** Loads what phrases the issues of schemas with the first value that does not fit. */

import { onDemand } from '../on-demand.ts';

export type Phrasing = typeof import('./phrasing.ts');

/** Uses the module: at once where it is loaded. */
export const withPhrasing: <T>(use: (phrasing: Phrasing) => T | Promise<T>) => T | Promise<T> = /* @__PURE__ */ onDemand(
  () => import('./phrasing.ts'),
);
