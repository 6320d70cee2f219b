/** What all handles of registered items share. */

import type { RegisteredItem } from '../config.ts';
import type { Catalog, CatalogItem } from './catalog.ts';

export abstract class CatalogHandle<Item extends CatalogItem> implements RegisteredItem {
  protected readonly item: Item;
  readonly #catalog: Catalog<Item>;

  constructor(item: Item, catalog: Catalog<Item>) {
    this.item = item;
    this.#catalog = catalog;
  }

  get name(): string {
    return this.item.key;
  }

  get enabled(): boolean {
    return this.item.isEnabled;
  }

  enable(): void {
    if (!this.enabled) this.apply(undefined, undefined, true);
  }

  disable(): void {
    if (this.enabled) this.apply(undefined, undefined, false);
  }

  remove(): void {
    this.#catalog.delete(this.item);
  }

  /**
   * Makes prepared changes. Renaming comes first: it alone may still fail.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: the new key is taken.
   */
  protected apply(change: (() => void) | undefined, key: string | undefined, isEnabled: boolean | undefined): void {
    if (key !== undefined) this.#catalog.rename(this.item, key);
    change?.();
    if (isEnabled !== undefined) this.item.isEnabled = isEnabled;
    this.#catalog.changed();
  }
}
