/** What the handles of registered tools, resources and prompts have in common. */

/** Copies the members that are given. */
export function assignGiven<T extends object>(target: T, given: { readonly [K in keyof T]?: T[K] | undefined }): void {
  for (const [name, value] of Object.entries(given)) if (value !== undefined) target[name as keyof T] = value as T[keyof T];
}

/** Items by name or address, in the order in which they came. */
export class Items<Item extends { enabled: boolean }> {
  /** As v1 keeps them: programs read it. */
  readonly all: Record<string, Item>;
  readonly #noun: string;
  readonly #onChange: () => void;

  /** @param onChange Called after each change. */
  constructor(noun: string, all: Record<string, Item>, onChange: () => void) {
    this.#noun = noun;
    this.all = all;
    this.#onChange = onChange;
  }

  get enabled(): readonly (readonly [string, Item])[] {
    return Object.entries(this.all).filter(([, { enabled }]) => enabled);
  }

  find(key: string): Item | undefined {
    return Object.hasOwn(this.all, key) ? this.all[key] : undefined;
  }

  /** @throws {Error} The key is taken. */
  assertFree(key: string): void {
    if (this.find(key)) throw new Error(`${this.#noun} ${key} is already registered`);
  }

  /** Makes the parts of a handle that all kinds share. @param item Gives the handle. */
  handle(key: string, item: () => Item): { enable(): void; disable(): void; remove(): void; move(to: string | null | undefined): void } {
    let at = key;
    const move = (to: string | null | undefined): void => {
      if (to === undefined || to === at) return;
      delete this.all[at];
      if (to !== null) this.all[(at = to)] = item();
    };
    const set = (enabled: boolean) => (): void => {
      item().enabled = enabled;
      this.#onChange();
    };
    const remove = (): void => {
      move(null);
      this.#onChange();
    };
    return { enable: set(true), disable: set(false), remove, move };
  }
}
