/** `AskDialog`: a request of a server that waits for the user: a form, a page to open, or a message of a model. */

import { describeForm, describePage, type FormIssue } from '@mortise/client/host';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Ask } from '../messages.ts';
import { JsonText } from './json-field.tsx';
import { JsonTree } from './json-tree.tsx';
import { ask as send } from './link.ts';
import { firstValue } from './schema.ts';
import { SchemaForm } from './schema-form.tsx';
import { report, servers, type ServerModel } from './state.ts';
import { messageOf, visible } from './text.ts';

/** Asks that the user put off, to look at something first. */
const putOff = signal<ReadonlySet<string>>(new Set());

interface OpenAsk {
  readonly server: ServerModel;
  readonly ask: Ask;
}

const allAsks = (): readonly OpenAsk[] => servers.value.flatMap((server) => server.asks.value.map((ask) => ({ server, ask })));

/** The first ask that is not put off. */
export function Asks(): JSX.Element | null {
  const open = allAsks();
  const [first] = open.filter(({ ask }) => !putOff.value.has(ask.id));
  if (first) return <AskDialog key={first.ask.id} {...first} />;
  if (open.length === 0) return null;
  return (
    <p class="banner" role="status">
      {open.length === 1 ? 'A request of a server waits' : `${open.length} requests of servers wait`} for your answer.{' '}
      <button type="button" onClick={() => void (putOff.value = new Set())}>
        Answer now
      </button>
    </p>
  );
}

const TITLES = { form: 'asks you', url: 'wants you to open a page', sampling: 'asks your model' } as const;

function AskDialog({ server, ask }: OpenAsk): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Gives the focus back.
    return () => element?.close();
  }, []);
  const answer = (given: JsonObject | undefined): void =>
    void send('answer', { server: server.id, ask: ask.id, answer: given }).catch(report);
  const later = (): void => void (putOff.value = new Set([...putOff.value, ask.id]));
  const { info, name } = server.state.value;
  const Body = { form: FormAsk, url: UrlAsk, sampling: SamplingAsk }[ask.kind];
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        later();
      }}
    >
      <h2 id={id}>
        {visible(info?.name ?? name)} {TITLES[ask.kind]}
      </h2>
      <Body params={ask.params} answer={answer} later={later} />
    </dialog>
  );
}

interface BodyProps {
  readonly params: JsonObject;
  answer(given: JsonObject | undefined): void;
  later(): void;
}

function Buttons({ later, children }: { later: () => void; children: ComponentChildren }): JSX.Element {
  return (
    <div class="buttons">
      {children}
      <button type="button" class="plain" onClick={later}>
        Later
      </button>
    </div>
  );
}

function Refusals({ answer }: Pick<BodyProps, 'answer'>): JSX.Element {
  return (
    <>
      <button type="button" onClick={() => answer({ action: 'decline' })}>
        Decline
      </button>
      <button type="button" onClick={() => answer({ action: 'cancel' })}>
        Cancel
      </button>
    </>
  );
}

function FormAsk({ params, answer, later }: BodyProps): JSX.Element {
  const schema = isJsonObject(params['requestedSchema']) ? params['requestedSchema'] : {};
  const [content, setContent] = useState<JsonObject>(() => firstValue(schema, schema) as JsonObject);
  const [issues, setIssues] = useState<readonly FormIssue[]>([]);
  const accept = (): void => {
    const found = check(schema, content);
    setIssues(found);
    if (found.length === 0) answer({ action: 'accept', content });
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        accept();
      }}
    >
      <p class="about">{visible(String(params['message'] ?? ''))}</p>
      <SchemaForm schema={schema} value={content} onChange={setContent} />
      {issues.length > 0 && (
        <ul class="error" role="alert">
          {issues.map(({ field, message }) => (
            <li>{visible(`${field} ${message}`)}</li>
          ))}
        </ul>
      )}
      <Buttons later={later}>
        <button type="submit" class="main">
          Accept
        </button>
        <Refusals answer={answer} />
      </Buttons>
    </form>
  );
}

function check(schema: JsonObject, content: JsonObject): readonly FormIssue[] {
  try {
    return describeForm(schema).check(content);
  } catch (error) {
    return [{ field: 'The form', message: `cannot be checked: ${messageOf(error)}` }];
  }
}

function UrlAsk({ params, answer, later }: BodyProps): JSX.Element {
  const page = describe(String(params['url']));
  return (
    <>
      <p class="about">{visible(String(params['message'] ?? ''))}</p>
      {page === undefined ? (
        <p class="error">The address is not valid.</p>
      ) : (
        <>
          <p>
            <code>{page.url}</code>
          </p>
          <p>
            at <strong>{page.host}</strong>
            {page.warnings.length > 0 && <span class="error"> ({page.warnings.join(', ')})</span>}
          </p>
        </>
      )}
      <Buttons later={later}>
        {page && (
          <a class="button main" href={page.url} target="_blank" rel="noopener noreferrer" onClick={() => answer({ action: 'accept' })}>
            Open the page
          </a>
        )}
        <Refusals answer={answer} />
      </Buttons>
    </>
  );
}

/** @returns undefined for what is no web page: a `javascript:` URL would run here. */
function describe(url: string): ReturnType<typeof describePage> | undefined {
  try {
    return /^https?:$/.test(new URL(url).protocol) ? describePage(url) : undefined;
  } catch {
    return undefined;
  }
}

function SamplingAsk({ params, answer, later }: BodyProps): JSX.Element {
  const id = useId();
  const [text, setText] = useState('');
  const [model, setModel] = useState('a person');
  const [raw, setRaw] = useState<JsonObject | undefined>(undefined);
  const simple: JsonObject = { role: 'assistant', model, content: { type: 'text', text }, stopReason: 'endTurn' };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        answer(raw ?? simple);
      }}
    >
      <JsonTree name="request" value={params} isOpen />
      <div class="field">
        <label for={`${id}-text`}>Answer of the model</label>
        <textarea id={`${id}-text`} rows={3} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </div>
      <div class="field">
        <label for={`${id}-model`}>Name of the model</label>
        <input id={`${id}-model`} value={model} onInput={({ currentTarget }) => setModel(currentTarget.value)} />
      </div>
      <details>
        <summary>Result as JSON</summary>
        <JsonText label="Result" value={raw ?? simple} onChange={setRaw} />
      </details>
      <Buttons later={later}>
        <button type="submit" class="main">
          Send
        </button>
        <button type="button" onClick={() => answer(undefined)}>
          Refuse
        </button>
      </Buttons>
    </form>
  );
}
