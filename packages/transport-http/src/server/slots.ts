/**
 * What is open for a moment, in an array whose places are given again. With a `Set` here, V8 was measured to keep more of each request
 * until the next full collection.
 */

/** Something that knows its place. */
export interface Slotted {
  /** Kept by `Slots`; -1 outside. */
  slot: number;
}

export class Slots<T extends Slotted> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.slot !== -1) return;
    member.slot = this.#members.length;
    this.#members.push(member);
  }

  /** Does nothing for one that is not in. */
  delete(member: T): void {
    const { slot } = member;
    if (this.#members[slot] !== member) return;
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[slot] = last;
      last.slot = slot;
    }
    member.slot = -1;
  }

  /** Those that are in now, in no order. */
  all(): readonly T[] {
    return [...this.#members];
  }
}
