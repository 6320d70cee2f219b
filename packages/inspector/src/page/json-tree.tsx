/** `JsonTree`: any JSON as a tree that opens by mouse and keyboard. Only what is open is drawn. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from './text.ts';

const SHOWN = 200;
const LONG = 2_000;

interface TreeProps {
  readonly value: JsonValue | undefined;
  readonly name?: string | undefined;
  readonly isOpen?: boolean;
}

export function JsonTree({ value, name, isOpen = false }: TreeProps): JSX.Element {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return <Leaf value={value} name={name} />;
  return <Branch value={value} name={name} isOpen={isOpen} />;
}

function Leaf({ value, name }: TreeProps): JSX.Element {
  const [showsAll, setShowsAll] = useState(false);
  // A long text is cut before any work is done on it.
  const isLong = typeof value === 'string' && value.length > LONG && !showsAll;
  const text = visible(JSON.stringify(isLong ? value.slice(0, LONG) : value) ?? 'undefined');
  return (
    <div class="leaf">
      {name !== undefined && <span class="key">{visible(name)}: </span>}
      <span class={`value ${value === null ? 'null' : typeof value}`}>{text}</span>
      {isLong && (
        <button type="button" class="plain" onClick={() => setShowsAll(true)}>
          show all {value.length} characters
        </button>
      )}
    </div>
  );
}

function Branch({ value, name, isOpen = false }: { value: object; name?: string | undefined; isOpen?: boolean }): JSX.Element {
  const [open, setOpen] = useState(isOpen);
  const [count, setCount] = useState(SHOWN);
  const entries = Object.entries(value) as [string, JsonValue][];
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <details class="branch" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name !== undefined && <span class="key">{visible(name)}: </span>}
        <span class="size">{size}</span>
      </summary>
      {open && entries.slice(0, count).map(([key, item]) => <JsonTree key={key} name={key} value={item} isOpen={entries.length <= 10} />)}
      {open && entries.length > count && (
        <button type="button" class="plain" onClick={() => setCount(count + SHOWN)}>
          show {Math.min(SHOWN, entries.length - count)} more of {entries.length}
        </button>
      )}
    </details>
  );
}
