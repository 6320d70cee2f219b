/** `JsonInput` and `JsonText`: a value that is edited as JSON. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';

/** @returns undefined for what is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

interface JsonInputProps {
  readonly id: string;
  readonly describedBy?: string | undefined;
  readonly minRows: number;
  /** undefined shows an empty field. */
  readonly value: JsonValue | undefined;
  /** Whether a text is taken over. Other text stays in the field until `value` changes. */
  isRight(parsed: JsonValue | undefined, text: string): boolean;
  onChange(value: JsonValue | undefined): void;
}

const MAX_ROWS = 24;

export function JsonInput({ id, describedBy, minRows, value, isRight, onChange }: JsonInputProps): JSX.Element {
  const written = toText(value);
  /** What the user typed, and the value that it was typed for. */
  const [draft, setDraft] = useState({ text: written, of: written });
  const text = draft.of === written ? draft.text : written;
  const isWrong = !isRight(parseJson(text), text);
  const onInput = (next: string): void => {
    const parsed = parseJson(next);
    const isTaken = isRight(parsed, next);
    setDraft({ text: next, of: isTaken ? toText(parsed) : written });
    if (isTaken) onChange(parsed);
  };
  return (
    <>
      <textarea
        id={id}
        class="code"
        spellcheck={false}
        placeholder="JSON"
        rows={Math.min(Math.max(text.split('\n').length, minRows), MAX_ROWS)}
        value={text}
        aria-describedby={describedBy}
        aria-invalid={isWrong}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {isWrong && <small class="error">This is not JSON that can be sent yet.</small>}
    </>
  );
}

const toText = (value: JsonValue | undefined): string => (value === undefined ? '' : JSON.stringify(value, null, 2));

interface JsonTextProps {
  readonly label: string;
  readonly value: JsonObject;
  onChange(value: JsonObject): void;
}

/** A labelled field for a JSON object. */
export function JsonText({ label, value, onChange }: JsonTextProps): JSX.Element {
  const id = useId();
  return (
    <div class="field json">
      <label for={id}>{label}</label>
      <JsonInput id={id} minRows={4} value={value} isRight={isJsonObject} onChange={(next) => isJsonObject(next) && onChange(next)} />
    </div>
  );
}
