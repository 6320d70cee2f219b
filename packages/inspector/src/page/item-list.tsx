/** `ItemList`: a list of names with a filter, one of which is chosen. Tab stops at it once; arrow keys, Home and End move within it. */

import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact';
import { useState } from 'preact/hooks';
import { type ListState, selected } from './state.ts';
import { visible } from './text.ts';

export interface NamedItem {
  readonly key: string;
  readonly title: string;
  /** By which the protocol names it, if that is not the title. */
  readonly name?: string | undefined;
  readonly about: string | undefined;
  readonly mark?: ComponentChildren;
}

interface ItemListProps {
  readonly label: string;
  readonly list: ListState<unknown>;
  readonly items: readonly NamedItem[];
  readonly chosen: string | undefined;
  onChoose(key: string): void;
  onReload(): void;
}

/** A server may list thousands: who has so many filters them. */
const SHOWN = 300;

export function ItemList({ label, list, items, chosen, onChoose, onReload }: ItemListProps): JSX.Element {
  const [text, setText] = useState('');
  const [focused, setFocused] = useState<string | undefined>(undefined);
  const isConnected = selected.value?.state.value.status === 'ready';
  const wanted = text.toLowerCase();
  const found = items.filter(({ key, title, about = '' }) => `${key} ${title} ${about}`.toLowerCase().includes(wanted));
  const drawn = found.slice(0, SHOWN);
  const stop = [focused, chosen].find((key) => drawn.some((item) => item.key === key)) ?? drawn[0]?.key;
  return (
    <section aria-label={label} class="items">
      <header>
        <h2>
          {label} <span class="quiet">({items.length})</span>
        </h2>
        <button type="button" class="plain" onClick={onReload} aria-label={`Reload ${label.toLowerCase()}`} aria-busy={list.isLoading}>
          Reload
        </button>
      </header>
      {items.length > 8 && (
        <input
          type="search"
          aria-label={`Filter ${label.toLowerCase()}`}
          placeholder="Filter"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
      {list.error !== undefined && <pre class="error">{visible(list.error)}</pre>}
      <ul class="rows" onKeyDown={moveFocus}>
        {drawn.map(({ key, title, name: shownName, about, mark }) => (
          <li key={key}>
            <button
              type="button"
              aria-current={key === chosen}
              tabIndex={key === stop ? 0 : -1}
              onFocus={() => setFocused(key)}
              onClick={() => onChoose(key)}
            >
              <strong>{visible(title)}</strong> {shownName !== undefined && <code>{visible(shownName)}</code>} {mark}
              {about !== undefined && <small>{visible(about.slice(0, 120))}</small>}
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p class="quiet">{found.length - SHOWN} more: filter them.</p>}
      {list.isCut && <p class="quiet">The server lists more: only the first are read.</p>}
      {items.length === 0 && !list.isLoading && (
        <p class="quiet">{isConnected ? 'The server has none.' : 'The server is not connected.'}</p>
      )}
    </section>
  );
}

/** The item is chosen by Enter only, since another one's form replaces what is filled in. */
function moveFocus(event: TargetedKeyboardEvent<HTMLUListElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const steps: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 };
  const next = steps[event.key];
  if (next === undefined) return;
  event.preventDefault();
  buttons[next]?.focus();
}

/** The heading of what is chosen: its title, and the name by which the protocol knows it. */
export function Heading({ name, title = name }: { name: string; title: string | undefined }): JSX.Element {
  return (
    <h2>
      {visible(title)} {title !== name && <code>{visible(name)}</code>}
    </h2>
  );
}
