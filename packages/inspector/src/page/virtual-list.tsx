/** `VirtualList`: a list of any length of which only the rows in sight are drawn. One row is chosen, by mouse or by arrow keys. */

import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly chosen: number | undefined;
  keyOf(item: Item): number;
  draw(item: Item): JSX.Element;
  onChoose(item: Item): void;
}

/** In pixels, as in the style sheet. */
const ROW = 28;
const BEYOND = 10;

export function VirtualList<Item>({ label, items, chosen, keyOf, draw, onChoose }: VirtualListProps<Item>): JSX.Element {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [view, setView] = useState({ top: 0, height: 600 });
  const look = (): void => {
    if (!box.current) return;
    const { scrollTop: top, clientHeight: height, scrollHeight } = box.current;
    isAtEnd.current = top + height >= scrollHeight - ROW;
    if (top !== view.top || height !== view.height) setView({ top, height });
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    // Who reads further up stays there; who is at the end sees what comes.
    if (isAtEnd.current) current.scrollTop = current.scrollHeight;
    look();
  });
  const first = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const at = chosen === undefined ? -1 : items.findIndex((item) => keyOf(item) === chosen);
  const choose = (next: number): void => {
    const item = items[Math.min(Math.max(next, 0), items.length - 1)];
    if (item === undefined || !box.current) return;
    const top = items.indexOf(item) * ROW;
    if (top < box.current.scrollTop) box.current.scrollTop = top;
    if (top + ROW > box.current.scrollTop + box.current.clientHeight) box.current.scrollTop = top + ROW - box.current.clientHeight;
    isAtEnd.current = false;
    onChoose(item);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 20,
      PageUp: at - 20,
      Home: 0,
      End: items.length,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };
  return (
    <div
      ref={box}
      class="virtual"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={at >= first && at < last ? `${id}-${chosen}` : undefined}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: `${items.length * ROW}px` }}>
        {items.slice(first, last).map((item, index) => (
          <div
            key={keyOf(item)}
            id={`${id}-${keyOf(item)}`}
            class="row"
            role="option"
            aria-selected={keyOf(item) === chosen}
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            style={{ transform: `translateY(${(first + index) * ROW}px)` }}
            onClick={() => choose(first + index)}
          >
            {draw(item)}
          </div>
        ))}
      </div>
    </div>
  );
}
