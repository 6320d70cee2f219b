/** State of a view that stays with its server while another view is shown. */

import { useState } from 'preact/hooks';
import type { ServerModel } from './state.ts';

/** `useState`, whose value is there again when the view is. @param key Names it among all that the server's views keep. */
export function useKept<T>(server: ServerModel, key: string, initial: () => T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => (server.kept.has(key) ? (server.kept.get(key) as T) : initial()));
  const keep = (next: T): void => {
    server.kept.set(key, next);
    setValue(next);
  };
  return [value, keep];
}
