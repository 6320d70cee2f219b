/** `WireView`: every message of one server, in order, with a picture of its calls. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CopyForm, WireMessage } from '../messages.ts';
import { parseJson } from './json-field.tsx';
import { JsonTree } from './json-tree.tsx';
import { useKept } from './kept.ts';
import { ask } from './link.ts';
import type { ServerModel } from './state.ts';
import { formatBytes, formatDuration, formatTime, messageOf, visible } from './text.ts';
import { Timeline } from './timeline.tsx';
import { VirtualList } from './virtual-list.tsx';

const text = signal('');
const direction = signal('');
const kind = signal('');

function matches({ method, subject, preview, rpcId, ...message }: WireMessage): boolean {
  if (direction.value !== '' && message.direction !== direction.value) return false;
  if (kind.value === 'faults' ? !message.isError : kind.value !== '' && message.kind !== kind.value) return false;
  const wanted = text.value.toLowerCase();
  return wanted === '' || `${method} ${subject} ${rpcId ?? ''} ${preview}`.toLowerCase().includes(wanted);
}

export function WireView({ server }: { server: ServerModel }): JSX.Element {
  const [chosen, setChosen] = useKept<number | undefined>(server, 'message', () => undefined);
  const version = server.wire.version.value;
  const filter = `${text.value} ${direction.value} ${kind.value}`;
  const shown = useMemo(() => server.wire.items.filter(matches), [server, version, filter]);
  const { messages, bytes } = server.loss.value;
  const message = chosen === undefined ? undefined : server.wire.items.find(({ seq }) => seq === chosen);
  return (
    <div class="split wire">
      <div class="pane">
        <Filters />
        <p class="quiet" role="status">
          {shown.length} of {server.wire.items.length} messages
          {messages > 0 && `; the first ${messages} (${formatBytes(bytes)}) were dropped to make room`}
        </p>
        <Timeline messages={shown} chosen={chosen} />
        <VirtualList
          label="Messages"
          items={shown}
          chosen={chosen}
          keyOf={({ seq }) => seq}
          draw={(each) => <Row message={each} />}
          onChoose={({ seq }) => setChosen(seq)}
        />
      </div>
      {message && <Detail key={message.seq} server={server} message={message} onChoose={setChosen} />}
    </div>
  );
}

function Filters(): JSX.Element {
  return (
    <div class="filters" role="search">
      <label>
        Filter <input type="search" value={text.value} onInput={({ currentTarget }) => void (text.value = currentTarget.value)} />
      </label>
      <label>
        Direction{' '}
        <select value={direction.value} onChange={({ currentTarget }) => void (direction.value = currentTarget.value)}>
          <option value="">both</option>
          <option value="out">sent</option>
          <option value="in">received</option>
        </select>
      </label>
      <label>
        Kind{' '}
        <select value={kind.value} onChange={({ currentTarget }) => void (kind.value = currentTarget.value)}>
          <option value="">all</option>
          <option value="request">requests</option>
          <option value="response">responses</option>
          <option value="notification">notifications</option>
          <option value="faults">errors</option>
        </select>
      </label>
    </div>
  );
}

function Row({ message }: { message: WireMessage }): JSX.Element {
  const { timeMs, direction: way, kind: what, method, subject, rpcId, bytes, tookMs, isError } = message;
  return (
    <>
      <span class="time">{formatTime(timeMs)}</span>
      <span class={`way ${way}`}>
        {way === 'out' ? '→' : '←'}
        <span class="word"> {way === 'out' ? 'sent' : 'received'}</span>
      </span>
      <span class={`kind ${what}${isError ? ' fault' : ''}`}>{isError && what !== 'error' ? `${what}, error` : what}</span>
      <span class="method">
        {visible(method)} <span class="quiet">{visible(subject)}</span>
      </span>
      <span class="number">{rpcId === undefined ? '' : visible(rpcId)}</span>
      <span class="number">{tookMs === undefined ? '' : formatDuration(tookMs)}</span>
      <span class="number">{formatBytes(bytes)}</span>
    </>
  );
}

interface DetailProps {
  readonly server: ServerModel;
  readonly message: WireMessage;
  onChoose(seq: number): void;
}

function Detail({ server, message, onChoose }: DetailProps): JSX.Element {
  const [body, setBody] = useState<{ readonly text: string; readonly isCut: boolean } | undefined>(undefined);
  const [copied, setCopied] = useState<string | undefined>(undefined);
  const { seq, answers, kind: what, method } = message;
  const response = server.wire.items.find((each) => each.answers === seq);
  const box = useRef<HTMLElement>(null);
  // In a narrow window it stands below the list.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  useEffect(() => {
    const showing = { isOver: false };
    const show = (shown: { readonly text: string; readonly isCut: boolean }): void => void (showing.isOver || setBody(shown));
    ask('message', { server: server.id, seq, most: AT_ONCE }).then(show, (error: unknown) => show({ text: messageOf(error), isCut: true }));
    return () => void (showing.isOver = true);
  }, [server, seq]);
  const copy = (as: CopyForm): void =>
    void ask('copy', { server: server.id, seq, as }).then(
      ({ text: made }) => put(made),
      (error: unknown) => setCopied(messageOf(error)),
    );
  const loadAll = (use: (whole: NonNullable<typeof body>) => void): void =>
    void ask('message', { server: server.id, seq, most: ALL }).then(use, (error: unknown) => setCopied(messageOf(error)));
  const put = (made: string): void => {
    setCopied(made);
    navigator.clipboard.writeText(made).catch(() => undefined);
  };
  return (
    <section ref={box} class="pane detail" aria-label="Message">
      <h3>
        {seq}. {what} {visible(method)}
      </h3>
      <div class="buttons">
        {answers !== undefined && (
          <button type="button" onClick={() => onChoose(answers)}>
            Its request
          </button>
        )}
        {response && (
          <button type="button" onClick={() => onChoose(response.seq)}>
            Its response
          </button>
        )}
        <button type="button" onClick={() => loadAll((whole) => put(whole.text))}>
          Copy JSON
        </button>
        {what === 'request' && message.direction === 'out' && (
          <>
            <button type="button" onClick={() => copy('curl')}>
              Copy as curl
            </button>
            <button type="button" onClick={() => copy('test')}>
              Copy as a test
            </button>
          </>
        )}
      </div>
      {copied !== undefined && (
        <pre class="copied" tabIndex={0} aria-label="Copied text">
          {visible(copied.slice(0, 20_000))}
        </pre>
      )}
      {body && <Body {...body} onLoadAll={body.text.length >= AT_ONCE && body.isCut ? () => loadAll(setBody) : undefined} />}
    </section>
  );
}

/** So many characters come with the click; the whole of a longer message is loaded when the user wants it. */
const AT_ONCE = 65_536;
const ALL = Number.MAX_SAFE_INTEGER;
/** A long text is shown in part: what is drawn must not hold the page up. */
const SHOWN = 100_000;

interface BodyProps {
  readonly text: string;
  readonly isCut: boolean;
  readonly onLoadAll: (() => void) | undefined;
}

function Body({ text: body, isCut, onLoadAll }: BodyProps): JSX.Element {
  const value = isCut ? undefined : parseJson(body);
  return (
    <>
      {isCut && (
        <p class="quiet">
          Only the beginning is shown.{' '}
          {onLoadAll && (
            <button type="button" onClick={onLoadAll}>
              Load all
            </button>
          )}
        </p>
      )}
      {value === undefined ? <pre tabIndex={0}>{visible(body.slice(0, SHOWN))}</pre> : <JsonTree value={value} isOpen />}
    </>
  );
}
