/** `ConnectForm`: names a server by a command or a URL, and connects to it. */

import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ServerTarget } from '../messages.ts';
import { ask } from './link.ts';
import { revisions, selectedId } from './state.ts';
import { splitCommand } from './split-command.ts';
import { messageOf, visible } from './text.ts';

type TargetType = ServerTarget['type'];

const TYPES: Readonly<Record<TargetType, string>> = {
  stdio: 'Program (stdio)',
  http: 'Streamable HTTP',
  sse: 'HTTP with SSE (older servers)',
  websocket: 'WebSocket',
};

export function ConnectForm(): JSX.Element {
  const id = useId();
  const [error, setError] = useState<string | undefined>(undefined);
  const [type, setType] = useState<TargetType>('stdio');
  const connect = async (target: ServerTarget): Promise<void> => {
    try {
      const { server } = await ask('connect', { target });
      selectedId.value = server;
    } catch (thrown) {
      setError(messageOf(thrown));
    }
  };
  return (
    <section class="pane connect" aria-label="Connect">
      <h2>Connect to a server</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          try {
            void connect(toTarget(type, new FormData(event.currentTarget)));
          } catch (thrown) {
            setError(messageOf(thrown));
          }
        }}
      >
        <div class="field">
          <label for={`${id}-type`}>Transport</label>
          <select id={`${id}-type`} value={type} onChange={({ currentTarget }) => setType(currentTarget.value as TargetType)}>
            {Object.entries(TYPES).map(([value, label]) => (
              <option value={value}>{label}</option>
            ))}
          </select>
        </div>
        {type === 'stdio' ? <ProgramFields id={id} /> : <UrlFields id={id} type={type} />}
        <RevisionField id={id} />
        {error !== undefined && (
          <p class="error" role="alert">
            {visible(error)}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="main">
            Connect
          </button>
        </div>
      </form>
    </section>
  );
}

function ProgramFields({ id }: { id: string }): JSX.Element {
  return (
    <>
      <div class="field">
        <label for={`${id}-command`}>Command</label>
        <input id={`${id}-command`} name="command" class="code" required autocomplete="off" aria-describedby={`${id}-about`} />
        <small id={`${id}-about`}>For example: npx -y @modelcontextprotocol/server-everything. No shell runs it; quotes keep spaces.</small>
      </div>
      <div class="field">
        <label for={`${id}-cwd`}>Folder</label>
        <input id={`${id}-cwd`} name="cwd" class="code" autocomplete="off" />
      </div>
      <div class="field">
        <label for={`${id}-env`}>Variables, NAME=value, one a line</label>
        <textarea id={`${id}-env`} name="env" class="code" rows={2} spellcheck={false} />
      </div>
    </>
  );
}

function UrlFields({ id, type }: { id: string; type: TargetType }): JSX.Element {
  return (
    <>
      <div class="field">
        <label for={`${id}-url`}>URL</label>
        <input
          id={`${id}-url`}
          name="url"
          type="url"
          class="code"
          required
          placeholder={type === 'websocket' ? 'ws://localhost:3000/mcp' : 'http://localhost:3000/mcp'}
        />
      </div>
      <div class="field">
        <label for={`${id}-headers`}>Headers, Name: value, one a line</label>
        <textarea id={`${id}-headers`} name="headers" class="code" rows={2} spellcheck={false} aria-describedby={`${id}-signin`} />
        {type !== 'websocket' && (
          <small id={`${id}-signin`}>Without an Authorization header the inspector signs in where the server asks for it.</small>
        )}
      </div>
    </>
  );
}

function RevisionField({ id }: { id: string }): JSX.Element {
  return (
    <div class="field">
      <label for={`${id}-revision`}>Protocol</label>
      <select id={`${id}-revision`} name="revision">
        <option value="">the newest that both sides know</option>
        <option value="modern">modern era only</option>
        <option value="legacy">legacy era only</option>
        {revisions.value.map((version) => (
          <option value={version}>{version} only</option>
        ))}
      </select>
    </div>
  );
}

/** @throws {Error} The command is empty, or a line is malformed. */
function toTarget(type: TargetType, form: FormData): ServerTarget {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  const revision = text('revision');
  const choice = revision === '' ? {} : revision === 'modern' || revision === 'legacy' ? { era: revision } : { protocolVersion: revision };
  if (type !== 'stdio') return { type, url: text('url'), headers: toPairs(text('headers'), ':'), ...choice } as ServerTarget;
  const [command, ...args] = splitCommand(text('command'));
  if (command === undefined) throw new Error('The command is empty');
  return {
    type,
    command,
    args,
    env: toPairs(text('env'), '='),
    ...(text('cwd') !== '' && { cwd: text('cwd') }),
    ...choice,
  } as ServerTarget;
}

function toPairs(text: string, separator: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(separator);
      if (at < 1) throw new Error(`"${line}" has no "${separator}"`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
