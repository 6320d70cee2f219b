/** `App`: the servers on one side, and the views of the selected one. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Asks } from './asks.tsx';
import { ConnectForm } from './connect-form.tsx';
import { ask, isLinked } from './link.ts';
import { LogsView } from './logs-view.tsx';
import { PromptsView } from './prompts-view.tsx';
import { ResourcesView } from './resources-view.tsx';
import { ServerView, SignInSteps } from './server-view.tsx';
import { notice, report, selected, selectedId, servers, type ServerModel } from './state.ts';
import { TasksView } from './tasks-view.tsx';
import { visible } from './text.ts';
import { ToolsView } from './tools-view.tsx';
import { WireView } from './wire-view.tsx';

const VIEWS = {
  Tools: ToolsView,
  Resources: ResourcesView,
  Prompts: PromptsView,
  Tasks: TasksView,
  Logs: LogsView,
  Wire: WireView,
  Server: ServerView,
};
type ViewName = keyof typeof VIEWS;
const NAMES = Object.keys(VIEWS) as ViewName[];
const view = signal<ViewName>('Tools');

export function App(): JSX.Element {
  const server = selected.value;
  return (
    <>
      <header class="top">
        <h1>Mortise Inspector</h1>
        <span class={`status ${isLinked.value ? 'done' : 'failed'}`} role="status">
          {isLinked.value ? 'linked' : 'disconnected: is `mortise` still running?'}
        </span>
      </header>
      <Servers />
      <main>
        {notice.value !== '' && (
          <p class="banner error" role="alert">
            {visible(notice.value)}{' '}
            <button type="button" onClick={() => void (notice.value = '')}>
              Dismiss
            </button>
          </p>
        )}
        <Asks />
        {server ? <Server key={server.id} server={server} /> : <ConnectForm />}
      </main>
    </>
  );
}

function Servers(): JSX.Element {
  return (
    <nav class="servers" aria-label="Servers">
      <ul class="rows">
        {servers.value.map((server) => (
          <li key={server.id}>
            <button type="button" aria-current={server.id === selectedId.value} onClick={() => void (selectedId.value = server.id)}>
              <strong>{visible(server.state.value.info?.name ?? server.state.value.name)}</strong>
              <span class={`status ${statusClass(server)}`}>{server.state.value.status}</span>
              {server.asks.value.length > 0 && <span class="badge">asks</span>}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" aria-current={selected.value === undefined} onClick={() => void (selectedId.value = undefined)}>
        Connect a server
      </button>
    </nav>
  );
}

const statusClass = ({ state }: ServerModel): string =>
  ({ ready: 'done', connecting: 'running', failed: 'failed', closed: 'cancelled' })[state.value.status];

function Server({ server }: { server: ServerModel }): JSX.Element {
  const { name, status, reason, signInUrl, info, protocolVersion, era } = server.state.value;
  const id = server.id;
  return (
    <>
      <header class="server">
        <h2>{visible(info?.title ?? info?.name ?? name)}</h2>
        <span class={`status ${statusClass(server)}`} role="status">
          {status}
          {protocolVersion !== undefined && ` ${protocolVersion}, ${era}`}
        </span>
        <span class="space" />
        <button type="button" onClick={() => void ask('reconnect', { server: id }).catch(report)}>
          Connect again
        </button>
        {(status === 'ready' || status === 'connecting') && (
          <button type="button" onClick={() => void ask('disconnect', { server: id, forgets: false }).catch(report)}>
            Disconnect
          </button>
        )}
        <button type="button" onClick={() => void ask('disconnect', { server: id, forgets: true }).catch(report)}>
          Remove
        </button>
      </header>
      {reason !== undefined && status === 'failed' && (
        <pre class="error" role="alert">
          {visible(reason)}
        </pre>
      )}
      {signInUrl !== undefined && <SignIn url={signInUrl} server={server} />}
      <Tabs server={server} />
    </>
  );
}

function SignIn({ url, server }: { url: string; server: ServerModel }): JSX.Element {
  return (
    <section class="banner" aria-label="Sign in">
      <p>
        The server wants you to sign in at <strong>{new URL(url).host}</strong>.{' '}
        <a class="button main" href={url} target="_blank" rel="noopener noreferrer">
          Open the sign-in page
        </a>
      </p>
      <SignInSteps steps={server.steps.value} />
    </section>
  );
}

function Tabs({ server }: { server: ServerModel }): JSX.Element {
  const View = VIEWS[view.value];
  // What had the focus, a form to connect, is gone.
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById(`tab-${view.value}`)?.focus();
  }, []);
  const move = (event: KeyboardEvent): void => {
    const at = NAMES.indexOf(view.value);
    const steps: Readonly<Record<string, number>> = { ArrowRight: (at + 1) % NAMES.length, ArrowLeft: at - 1, Home: 0, End: -1 };
    const step = steps[event.key];
    const next = step === undefined ? undefined : NAMES.at(step);
    if (next === undefined) return;
    event.preventDefault();
    view.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
        {NAMES.map((name) => (
          <button
            type="button"
            role="tab"
            id={`tab-${name}`}
            key={name}
            aria-selected={name === view.value}
            aria-controls="view"
            tabIndex={name === view.value ? 0 : -1}
            onClick={() => void (view.value = name)}
          >
            {name}
            {name === 'Tasks' && server.tasks.value.length > 0 && <span class="badge">{server.tasks.value.length}</span>}
          </button>
        ))}
      </div>
      <div id="view" class="view" role="tabpanel" aria-labelledby={`tab-${view.value}`}>
        <View server={server} />
      </div>
    </>
  );
}
