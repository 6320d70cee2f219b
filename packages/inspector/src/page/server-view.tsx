/** `ServerView`: what a server says of itself, the roots that it is given, and the steps of the sign-in. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Root } from '@mortise/protocol';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SignInStep } from '../messages.ts';
import { JsonTree } from './json-tree.tsx';
import { ask } from './link.ts';
import { report, type ServerModel } from './state.ts';
import { formatTime, visible } from './text.ts';

export function ServerView({ server }: { server: ServerModel }): JSX.Element {
  const { info, instructions, capabilities, target, protocolVersion, era } = server.state.value;
  const { headers: _headers, env: _env, ...shown } = { headers: undefined, env: undefined, ...target };
  return (
    <section class="pane" aria-label="Server">
      {instructions !== undefined && <pre tabIndex={0}>{visible(instructions)}</pre>}
      <dl>
        <dt>Version</dt>
        <dd>{visible(info?.version ?? 'unknown')}</dd>
        <dt>Protocol</dt>
        <dd>{protocolVersion === undefined ? 'unknown' : `${visible(protocolVersion)} (${era} era)`}</dd>
      </dl>
      <JsonTree name="reached by" value={shown as unknown as JsonObject} isOpen />
      {capabilities && <JsonTree name="capabilities" value={capabilities as unknown as JsonObject} isOpen />}
      {info && <JsonTree name="about itself" value={info as unknown as JsonObject} />}
      <Roots server={server} />
      <SignInSteps steps={server.steps.value} />
    </section>
  );
}

function Roots({ server }: { server: ServerModel }): JSX.Element {
  const { roots } = server.state.value;
  const [uri, setUri] = useState('file:///');
  const set = (next: readonly Root[]): void => void ask('setRoots', { server: server.id, roots: next }).catch(report);
  return (
    <section aria-label="Roots">
      <h3>Roots</h3>
      <p class="quiet">The folders that the server gets when it asks for them.</p>
      <ul>
        {roots.map((root) => (
          <li key={root.uri}>
            <code>{visible(root.uri)}</code>{' '}
            <button type="button" class="plain" onClick={() => set(roots.filter((each) => each !== root))}>
              Remove {visible(root.uri)}
            </button>
          </li>
        ))}
      </ul>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          set([...roots.filter((each) => each.uri !== uri), { uri }]);
        }}
      >
        <label>
          New root <input value={uri} pattern="file://.*" required onInput={({ currentTarget }) => setUri(currentTarget.value)} />
        </label>
        <button type="submit">Add root</button>
      </form>
    </section>
  );
}

export function SignInSteps({ steps }: { steps: readonly SignInStep[] }): JSX.Element | null {
  if (steps.length === 0) return null;
  return (
    <section aria-label="Sign-in">
      <h3>Sign-in</h3>
      <ol class="steps">
        {steps.map(({ seq, timeMs, title, method, url, status, error, document }) => (
          <li key={seq}>
            <strong>{title}</strong> <span class="quiet">{formatTime(timeMs)}</span>
            <p>
              {method} <code>{visible(url)}</code>{' '}
              {status !== undefined && <span class={`status ${status < 400 ? 'done' : 'failed'}`}>{status}</span>}
            </p>
            {error !== undefined && <pre class="error">{visible(error)}</pre>}
            {document !== undefined && <JsonTree name="document" value={document} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
