/** `TasksView`: the tasks of a server as they go on. */

import type { JSX } from 'preact';
import type { TaskEntry } from '../messages.ts';
import { ask } from './link.ts';
import { ResultView } from './run-view.tsx';
import { report, type ServerModel } from './state.ts';
import { visible } from './text.ts';

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export function TasksView({ server }: { server: ServerModel }): JSX.Element {
  const tasks = server.tasks.value.toReversed();
  return (
    <section class="pane" aria-label="Tasks">
      <h2>
        Tasks <span class="quiet">({tasks.length})</span>
      </h2>
      {tasks.length === 0 && <p class="quiet">None yet. A tool that supports it has a button "Call as a task".</p>}
      {tasks.map((task) => (
        <Task key={task.id} server={server} task={task} />
      ))}
    </section>
  );
}

function Task({ server, task }: { server: ServerModel; task: TaskEntry }): JSX.Element {
  const { id, tool, status, message, createdAt, result, error } = task;
  return (
    <article class="run" aria-label={`Task of ${visible(tool)}`}>
      <header>
        <h3>{visible(tool)}</h3>
        <span class={`status ${status === 'completed' ? 'done' : status}`} role="status">
          {visible(status)}
        </span>
        {!OVER.has(status) && (
          <button type="button" onClick={() => void ask('cancelTask', { server: server.id, task: id }).catch(report)}>
            Cancel task
          </button>
        )}
      </header>
      <p class="quiet">
        <code>{visible(id)}</code> {createdAt !== undefined && `since ${visible(createdAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'))}`}
      </p>
      {!OVER.has(status) && <progress aria-label="The task is not over" />}
      {message !== undefined && <p>{visible(message)}</p>}
      {error !== undefined && <pre class="error">{visible(error)}</pre>}
      {result && <ResultView result={result} />}
    </article>
  );
}
