/** `ToolsView`: the tools of a server, a form for the arguments of one, and its runs. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Tool } from '@mortise/protocol/model';
import type { JSX } from 'preact';
import { Heading, ItemList } from './item-list.tsx';
import { JsonText } from './json-field.tsx';
import { JsonTree } from './json-tree.tsx';
import { useKept } from './kept.ts';
import { RunList, RunView } from './run-view.tsx';
import { type Run, startRun } from './runs.ts';
import { firstValue } from './schema.ts';
import { SchemaForm } from './schema-form.tsx';
import { loadList, type ServerModel } from './state.ts';
import { visible } from './text.ts';

export function ToolsView({ server }: { server: ServerModel }): JSX.Element {
  const [name, setName] = useKept<string | undefined>(server, 'tool', () => undefined);
  const list = server.lists.tools.value;
  const tool = list.items.find((each) => each.name === name) ?? list.items[0];
  const items = list.items.map(({ name: key, title = key, description }) => ({
    key,
    title,
    name: title === key ? undefined : key,
    about: description,
  }));
  return (
    <div class="split">
      <ItemList
        label="Tools"
        list={list}
        items={items}
        chosen={tool?.name}
        onChoose={setName}
        onReload={() => void loadList(server, 'tools')}
      />
      {tool && <ToolPane key={tool.name} server={server} tool={tool} />}
    </div>
  );
}

function ToolPane({ server, tool }: { server: ServerModel; tool: Tool }): JSX.Element {
  const schema = tool.inputSchema as unknown as JsonObject;
  const [args, setArgs] = useKept(server, `tool ${tool.name}`, () => toObject(firstValue(schema, schema)));
  const [shown, setShown] = useKept<Run | undefined>(server, `run ${tool.name}`, () => undefined);
  const runs = server.runs.value.filter((run) => run.method === 'tools/call' && run.name === tool.name);
  const run = (asTask: boolean, given = args): void =>
    setShown(startRun(server, 'tools/call', tool.name, { name: tool.name, arguments: given }, asTask));
  const latest = shown ?? runs[0];
  return (
    <section class="pane" aria-label={`Tool ${visible(tool.name)}`}>
      <Heading name={tool.name} title={tool.title} />
      {tool.description !== undefined && <p class="about">{visible(tool.description)}</p>}
      <Hints tool={tool} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          run(false);
        }}
      >
        <div class="arguments">
          <div>
            <SchemaForm schema={schema} value={args} onChange={setArgs} />
          </div>
          <JsonText label="Arguments as JSON" value={args} onChange={setArgs} />
        </div>
        <div class="buttons">
          <button type="submit" class="main">
            Call
          </button>
          {canBeTask(server, tool) && (
            <button type="button" onClick={() => run(true)}>
              Call as a task
            </button>
          )}
        </div>
      </form>
      {latest && <RunView run={latest} onRepeat={({ params }) => run(false, toObject(params['arguments']))} />}
      <RunList
        runs={runs}
        shown={latest}
        onShow={(each) => {
          setShown(each);
          setArgs(toObject(each.params['arguments']));
        }}
      />
      <JsonTree name="definition" value={tool as unknown as JsonObject} />
    </section>
  );
}

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Of 2025-11-25 a tool says it; a newer server decides at each call. */
function canBeTask(server: ServerModel, tool: Tool): boolean {
  const support = (tool as { readonly execution?: { readonly taskSupport?: string } }).execution?.taskSupport;
  const { era, capabilities } = server.state.value;
  const extensions = (capabilities as { readonly extensions?: object } | undefined)?.extensions ?? {};
  return (
    support === 'optional' ||
    support === 'required' ||
    (era === 'modern' && Object.keys(extensions).some((name) => name.endsWith('/tasks')))
  );
}

function Hints({ tool }: { tool: Tool }): JSX.Element | null {
  const hints = Object.entries(tool.annotations ?? {}).filter(([, value]) => typeof value === 'boolean');
  if (hints.length === 0) return null;
  return <p class="quiet">The server says: {hints.map(([name, value]) => `${visible(name)} ${String(value)}`).join(', ')}</p>;
}
