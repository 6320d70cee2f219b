/** `CompletedInput`: a text field for which the server suggests values. */

import type { PromptReference, ResourceTemplateReference } from '@mortise/protocol/model';
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { ask } from './link.ts';
import type { ServerModel } from './state.ts';
import { visible } from './text.ts';

interface CompletedInputProps {
  readonly server: ServerModel;
  readonly completionRef: PromptReference | ResourceTemplateReference;
  readonly name: string;
  readonly about?: string | undefined;
  readonly isRequired?: boolean;
  /** All arguments so far. */
  readonly values: Readonly<Record<string, string>>;
  onChange(value: string): void;
}

/** How long the user must pause before the server is asked, in milliseconds. */
const PAUSE_MS = 150;

export function CompletedInput({
  server,
  completionRef,
  name,
  about,
  isRequired = false,
  values,
  onChange,
}: CompletedInputProps): JSX.Element {
  const id = useId();
  const [found, setFound] = useState<readonly string[]>([]);
  const value = values[name] ?? '';
  const [isTyping, setIsTyping] = useState(false);
  const canComplete = server.state.value.capabilities?.completions !== undefined;
  useEffect(() => {
    if (!isTyping || !canComplete) return;
    const stopping = new AbortController();
    const timer = setTimeout(() => void complete(), PAUSE_MS);
    const complete = async (): Promise<void> => {
      const { [name]: _own, ...others } = values;
      const context = Object.keys(others).length > 0 ? { context: { arguments: others } } : {};
      const params = { ref: { ...completionRef }, argument: { name, value }, ...context };
      try {
        const { result } = await ask('request', { server: server.id, method: 'completion/complete', params }, { signal: stopping.signal });
        const { values: suggestions = [] } = (result['completion'] ?? {}) as { readonly values?: readonly unknown[] };
        setFound(suggestions.filter((text): text is string => typeof text === 'string').slice(0, 100));
      } catch {
        // Without suggestions the user types on.
      }
    };
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [value, isTyping]);
  return (
    <div class="field">
      <label for={id}>
        {visible(name)}
        {isRequired && <span class="required"> (required)</span>}
      </label>
      <input
        id={id}
        list={`${id}-list`}
        autocomplete="off"
        aria-describedby={about === undefined ? undefined : `${id}-about`}
        value={value}
        onFocus={() => setIsTyping(true)}
        onBlur={() => setIsTyping(false)}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <datalist id={`${id}-list`}>
        {found.map((text) => (
          <option value={text} />
        ))}
      </datalist>
      {about !== undefined && <small id={`${id}-about`}>{visible(about)}</small>}
    </div>
  );
}
