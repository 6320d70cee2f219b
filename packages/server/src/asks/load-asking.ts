/** Loads what asking needs when something is first asked, so that servers which never ask start without it. */

export type Asking = typeof import('./asking.ts');

let asking: Asking | undefined;

/** Uses the module: at once where it is loaded, so that questions asked in one turn stay together. */
export function withAsking<T>(use: (asking: Asking) => Promise<T>): Promise<T> {
  if (asking) return use(asking);
  return import('./asking.ts').then((loaded) => {
    asking = loaded;
    return use(loaded);
  });
}
