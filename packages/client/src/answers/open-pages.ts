/** The pages that servers asked the user to open and have not said to be done with. 2025-11-25 only: later ones just retry. */

interface OpenPage {
  readonly completed: Promise<void>;
  complete(): void;
}

/** A server that never says that its pages are done must not fill the memory. */
const MAX_PAGES = 1000;

export class OpenPages {
  readonly #pages = new Map<string, OpenPage>();

  /** Notes a page before the user sees it: the word that it is done may come at any time after. */
  open(id: string | undefined): Promise<void> {
    if (id === undefined) return new Promise(() => undefined);
    const known = this.#pages.get(id);
    if (known) return known.completed;
    let complete: () => void = () => undefined;
    const completed = new Promise<void>((resolve) => {
      complete = resolve;
    });
    this.#pages.set(id, { completed, complete });
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) break;
      this.#pages.delete(oldest);
    }
    return completed;
  }

  /** The user did not agree to open it. */
  forget(id: string | undefined): void {
    if (id !== undefined) this.#pages.delete(id);
  }

  /** The server says that one is done. @returns False for one that is not known, or done already. */
  complete(id: unknown): boolean {
    const page = typeof id === 'string' ? this.#pages.get(id) : undefined;
    if (!page) return false;
    this.#pages.delete(id as string);
    page.complete();
    return true;
  }
}
