/** `LogsView`: log messages of a server and the lines of its error output, by level and text. */

import { LOGGING_LEVELS, type LoggingLevel } from '@mortise/protocol';
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { LogEntry } from '../messages.ts';
import { useKept } from './kept.ts';
import { ask } from './link.ts';
import { report, type ServerModel } from './state.ts';
import { formatTime, visible } from './text.ts';
import { VirtualList } from './virtual-list.tsx';

const text = signal('');
const least = signal('');

/** Lines of the error output have no level, and errors of the client the highest. */
const rank = ({ level }: LogEntry): number =>
  level === 'client' ? LOGGING_LEVELS.length : level === 'stderr' ? -1 : LOGGING_LEVELS.indexOf(level);

function matches(entry: LogEntry): boolean {
  if (least.value !== '' && rank(entry) < LOGGING_LEVELS.indexOf(least.value as LoggingLevel)) return false;
  const wanted = text.value.toLowerCase();
  return wanted === '' || `${entry.logger ?? ''} ${entry.text}`.toLowerCase().includes(wanted);
}

export function LogsView({ server }: { server: ServerModel }): JSX.Element {
  const [chosen, setChosen] = useKept<number | undefined>(server, 'log entry', () => undefined);
  const version = server.logs.version.value;
  const filter = `${text.value} ${least.value}`;
  const shown = useMemo(() => server.logs.items.filter(matches), [server, version, filter]);
  const entry = server.logs.items.find(({ seq }) => seq === chosen);
  return (
    <div class="split wire">
      <div class="pane">
        <Filters server={server} />
        <p class="quiet" role="status">
          {shown.length} of {server.logs.items.length} entries
          {server.logs.items.length === 0 && hintOf(server)}
        </p>
        <VirtualList
          label="Log"
          items={shown}
          chosen={chosen}
          keyOf={({ seq }) => seq}
          draw={(each) => <Row entry={each} />}
          onChoose={({ seq }) => setChosen(seq)}
        />
      </div>
      {entry && (
        <section class="pane detail" aria-label="Log entry">
          <h3>
            {entry.level} {visible(entry.logger ?? '')}
          </h3>
          <pre tabIndex={0}>{visible(entry.text)}</pre>
        </section>
      )}
    </div>
  );
}

/** In the modern era a server sends log messages only of the level that the client asks for. */
const hintOf = ({ state: { value } }: ServerModel): string =>
  value.era === 'modern' && value.capabilities?.logging !== undefined ? ': choose the level from which the server sends them' : '';

function Filters({ server }: { server: ServerModel }): JSX.Element {
  const setLevel = (level: LoggingLevel): void => {
    server.logLevel.value = level;
    ask('setLogLevel', { server: server.id, level }).catch(report);
  };
  return (
    <div class="filters" role="search">
      <label>
        Search <input type="search" value={text.value} onInput={({ currentTarget }) => void (text.value = currentTarget.value)} />
      </label>
      <label>
        At least{' '}
        <select value={least.value} onChange={({ currentTarget }) => void (least.value = currentTarget.value)}>
          <option value="">all</option>
          <Levels />
        </select>
      </label>
      {server.state.value.capabilities?.logging !== undefined && (
        <label>
          The server sends from{' '}
          <select value={server.logLevel.value} onChange={({ currentTarget }) => setLevel(currentTarget.value as LoggingLevel)}>
            <option value="" disabled>
              {server.state.value.era === 'modern' ? 'no level' : 'its own level'}
            </option>
            <Levels />
          </select>
        </label>
      )}
    </div>
  );
}

const Levels = (): JSX.Element => (
  <>
    {LOGGING_LEVELS.map((level) => (
      <option value={level}>{level}</option>
    ))}
  </>
);

function Row({ entry }: { entry: LogEntry }): JSX.Element {
  return (
    <>
      <span class="time">{formatTime(entry.timeMs)}</span>
      <span class={`kind level-${entry.level}`}>{entry.level}</span>
      <span class="method">
        {entry.logger !== undefined && <span class="key">{visible(entry.logger)}: </span>}
        {visible(entry.text.slice(0, 300).replaceAll('\n', ' '))}
      </span>
    </>
  );
}
