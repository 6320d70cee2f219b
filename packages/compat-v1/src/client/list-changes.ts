/** The client option `listChanged`: tells a program of a changed list, with the new list. */

import { ListChangedOptionsBaseSchema, type ListChangedOptions } from '../types.ts';

/**
 * Makes the handler of a list's change notification.
 *
 * @param fetchItems Fetches the list again.
 * @throws {Error} The options are not valid.
 */
export function createListChangedHandler<T>(list: string, options: ListChangedOptions<T>, fetchItems: () => Promise<T[]>): () => void {
  const read = ListChangedOptionsBaseSchema.safeParse(options);
  if (!read.success) throw new Error(`Invalid ${list} listChanged options: ${read.error.message}`);
  const { onChanged } = options;
  if (typeof onChanged !== 'function') throw new Error(`Invalid ${list} listChanged options: onChanged must be a function`);
  const { autoRefresh, debounceMs } = read.data;
  const refresh = (): void => {
    if (!autoRefresh) return onChanged(null, null);
    fetchItems().then(
      (items) => onChanged(null, items),
      (error: unknown) => onChanged(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (debounceMs === 0) return refresh();
    clearTimeout(timer);
    timer = setTimeout(refresh, debounceMs);
  };
}
