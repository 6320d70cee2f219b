/** What registered tools, resources and prompts have in common. */

import type { JSONRPCRequest, ServerCapabilities } from '../types.ts';
import type { Server } from './index.ts';

interface Handle {
  enabled: boolean;
  enable(): void;
  disable(): void;
  remove(): void;
  update(updates: never): void;
}

/** The members to change, and the key to move to: null removes. */
type Changes<Item> = { readonly [K in keyof Item]?: Item[K] | undefined } & { readonly to?: string | null | undefined };

/** Items by name or address, in the order in which they came. */
export class Items<Item extends Handle> {
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

  /**
   * Adds an item and makes its handle.
   *
   * @param toChanges Reads what the program gives to `update`.
   * @throws {Error} The key is taken.
   */
  add(key: string, parts: Omit<Item, keyof Handle>, toChanges: (updates: Parameters<Item['update']>[0]) => Changes<Item>): Item {
    this.assertFree(key);
    let at = key;
    const change = ({ to, ...changes }: Changes<Item>): void => {
      if (to !== undefined && to !== at) {
        delete this.all[at];
        if (to !== null) this.all[(at = to)] = item;
      }
      for (const [name, value] of Object.entries(changes)) if (value !== undefined) item[name as keyof Item] = value as Item[keyof Item];
      this.#onChange();
    };
    const set = (changes: object) => (): void => change(changes as Changes<Item>);
    const handle = { enabled: true, enable: set({ enabled: true }), disable: set({ enabled: false }), remove: set({ to: null }) };
    const item = { ...parts, ...handle, update: (updates: never) => change(toChanges(updates)) } as unknown as Item;
    this.all[key] = item;
    this.#onChange();
    return item;
  }
}

/** Returns a function that declares capabilities and sets their handlers, once. It throws if the program has set one of them. */
export function onceServing(
  server: Server,
  capabilities: ServerCapabilities,
  handlers: Readonly<Record<string, (request: JSONRPCRequest, extra: never) => unknown>>,
): () => void {
  let isServed = false;
  return () => {
    if (isServed) return;
    for (const method of Object.keys(handlers)) server.assertCanSetRequestHandler(method);
    server.registerCapabilities(capabilities);
    for (const [method, handler] of Object.entries(handlers)) server._setHandler(method, handler as Parameters<Server['_setHandler']>[1]);
    isServed = true;
  };
}
