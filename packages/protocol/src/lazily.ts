/** Values that are made when they are first asked for, so that importing this package costs little. */

/** Gives `make`'s value; `make` is called once, by the first call. */
/* @__NO_SIDE_EFFECTS__ */
export function lazily<T extends object>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}
