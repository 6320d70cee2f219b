/** `RunView` and `RunList`: what a run gave, and the runs before it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Content, ResourceContent, Structured } from './content.tsx';
import { JsonTree } from './json-tree.tsx';
import type { Run } from './runs.ts';
import { formatDuration, formatTime, visible } from './text.ts';

export function RunView({ run, onRepeat }: { run: Run; onRepeat: (run: Run) => void }): JSX.Element {
  const { status, progress, result, problem, error, task, tookMs } = run.outcome.value;
  const box = useRef<HTMLElement>(null);
  const wasRunning = useRef(false);
  // Below a long form, or in a narrow window, the result of a click would be out of sight.
  useEffect(() => {
    if (status === 'running' || wasRunning.current) box.current?.scrollIntoView({ block: 'nearest' });
    wasRunning.current = status === 'running';
  }, [run, status]);
  return (
    <article ref={box} class="run" aria-label={`Result of ${visible(run.name)}`}>
      <header>
        <h3>{visible(run.name)}</h3>
        <span class={`status ${status}`} role="status">
          {status}
          {tookMs !== undefined && ` after ${formatDuration(tookMs)}`}
        </span>
        {status === 'running' ? (
          <button type="button" onClick={() => run.cancel()}>
            Cancel
          </button>
        ) : (
          <button type="button" onClick={() => onRepeat(run)}>
            Run again
          </button>
        )}
      </header>
      {status === 'running' && progress && (
        <p>
          <progress value={progress.progress} max={progress.total ?? undefined} aria-label="Progress" /> {visible(progress.message ?? '')}
        </p>
      )}
      {task !== undefined && <p>It runs as the task {visible(task)}: see Tasks.</p>}
      {error !== undefined && <pre class="error">{visible(error)}</pre>}
      {problem !== undefined && <pre class="error">{visible(problem)}</pre>}
      {result && <ResultView result={result} />}
      {Object.keys(run.params).length > 0 && <JsonTree name="sent" value={run.params} />}
    </article>
  );
}

/** A result of any method: its content by kind, and all of it as JSON. */
export function ResultView({ result }: { result: JsonObject }): JSX.Element {
  const { content, contents, messages, structuredContent } = result;
  return (
    <>
      {structuredContent !== undefined && <Structured value={structuredContent} />}
      {listOf(content).map((block) => (
        <Content block={block} />
      ))}
      {listOf(contents).map((part) => (
        <ResourceContent content={part as JsonObject} />
      ))}
      {listOf(messages).map((message) => (
        <section class="message">
          <p class="quiet">{visible(String((message as JsonObject)['role']))}</p>
          <Content block={(message as JsonObject)['content']} />
        </section>
      ))}
      <JsonTree name="result as JSON" value={result} />
    </>
  );
}

const listOf = (value: unknown): readonly JsonValue[] => (Array.isArray(value) ? (value.slice(0, 500) as JsonValue[]) : []);

/** The runs of one tool, prompt or resource, newest first. */
export function RunList({
  runs,
  shown,
  onShow,
}: {
  runs: readonly Run[];
  shown: Run | undefined;
  onShow: (run: Run) => void;
}): JSX.Element | null {
  if (runs.length < 2) return null;
  return (
    <nav aria-label="Runs">
      <h3>Runs</h3>
      <ul class="rows">
        {runs.map((run) => (
          <li key={run.id}>
            <button type="button" aria-current={run === shown} onClick={() => onShow(run)}>
              {formatTime(run.timeMs)} <span class={`status ${run.outcome.value.status}`}>{run.outcome.value.status}</span>{' '}
              <code>{visible(JSON.stringify(run.params['arguments'] ?? {}).slice(0, 80))}</code>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
