/** `ResourcesView`: resources and templates of a server, previews, and updates of those that are followed. */

import { UriTemplate } from '@mortise/protocol';
import type { ResourceTemplate } from '@mortise/protocol/model';
import type { JSX } from 'preact';
import { CompletedInput } from './completed-input.tsx';
import { ItemList } from './item-list.tsx';
import { JsonTree } from './json-tree.tsx';
import { useKept } from './kept.ts';
import { ask } from './link.ts';
import { RunView } from './run-view.tsx';
import { startRun } from './runs.ts';
import { loadList, report, type ServerModel } from './state.ts';
import { visible } from './text.ts';

export function ResourcesView({ server }: { server: ServerModel }): JSX.Element {
  const [chosen, setChosen] = useKept<string | undefined>(server, 'resource', () => undefined);
  const { resources, resourceTemplates } = server.lists;
  const updated = server.updated.value;
  const items = resources.value.items.map(({ uri, name, title, description }) => ({
    key: uri,
    title: title ?? name,
    about: description ?? uri,
    mark: updated.has(uri) ? <span class="badge">updated</span> : undefined,
  }));
  const templates = resourceTemplates.value.items.map(({ uriTemplate, name, title }) => ({
    key: uriTemplate,
    title: title ?? name,
    about: uriTemplate,
  }));
  const template = resourceTemplates.value.items.find(({ uriTemplate }) => uriTemplate === chosen);
  const resource = resources.value.items.find(({ uri }) => uri === chosen);
  return (
    <div class="split">
      <div>
        <ItemList
          label="Resources"
          list={resources.value}
          items={items}
          chosen={chosen}
          onChoose={setChosen}
          onReload={() => void loadList(server, 'resources')}
        />
        <ItemList
          label="Templates"
          list={resourceTemplates.value}
          items={templates}
          chosen={chosen}
          onChoose={setChosen}
          onReload={() => void loadList(server, 'resourceTemplates')}
        />
      </div>
      {template && <TemplatePane key={template.uriTemplate} server={server} template={template} />}
      {resource && (
        <section class="pane" key={resource.uri} aria-label={`Resource ${visible(resource.name)}`}>
          <h2>{visible(resource.title ?? resource.name)}</h2>
          {resource.description !== undefined && <p class="about">{visible(resource.description)}</p>}
          <Reading server={server} uri={resource.uri} />
          <JsonTree name="definition" value={{ ...resource } as never} />
        </section>
      )}
    </div>
  );
}

function TemplatePane({ server, template }: { server: ServerModel; template: ResourceTemplate }): JSX.Element {
  const [values, setValues] = useKept<Readonly<Record<string, string>>>(server, `template ${template.uriTemplate}`, () => ({}));
  const parsed = parse(template.uriTemplate);
  return (
    <section class="pane" aria-label={`Template ${visible(template.name)}`}>
      <h2>{visible(template.title ?? template.name)}</h2>
      {template.description !== undefined && <p class="about">{visible(template.description)}</p>}
      {parsed?.variableNames.map((name) => (
        <CompletedInput
          key={name}
          server={server}
          completionRef={{ type: 'ref/resource', uri: template.uriTemplate }}
          name={name}
          values={values}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      {parsed ? <Reading server={server} uri={parsed.expand(values)} /> : <p class="error">This template is not valid.</p>}
    </section>
  );
}

function parse(template: string): UriTemplate | undefined {
  try {
    return UriTemplate.parse(template);
  } catch {
    return undefined;
  }
}

function Reading({ server, uri }: { server: ServerModel; uri: string }): JSX.Element {
  const run = server.runs.value.find((each) => each.method === 'resources/read' && each.name === uri);
  const isFollowed = server.followed.value.has(uri);
  const read = (): void => {
    server.updated.value = without(server.updated.value, uri);
    startRun(server, 'resources/read', uri, { uri });
  };
  const follow = async (): Promise<void> => {
    await ask('subscribe', { server: server.id, uri, isOn: !isFollowed });
    server.followed.value = isFollowed ? without(server.followed.value, uri) : new Set([...server.followed.value, uri]);
  };
  return (
    <>
      <p>
        <code>{visible(uri)}</code> {server.updated.value.has(uri) && <span class="badge">updated since it was read</span>}
      </p>
      <div class="buttons">
        <button type="button" class="main" onClick={read}>
          Read
        </button>
        {server.state.value.capabilities?.resources?.subscribe === true && (
          <button type="button" aria-pressed={isFollowed} onClick={() => void follow().catch(report)}>
            {isFollowed ? 'Stop following' : 'Follow'}
          </button>
        )}
      </div>
      {run && <RunView run={run} onRepeat={read} />}
    </>
  );
}

const without = (set: ReadonlySet<string>, uri: string): ReadonlySet<string> => new Set([...set].filter((each) => each !== uri));
