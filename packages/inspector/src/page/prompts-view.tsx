/** `PromptsView`: the prompts of a server, their arguments with suggestions, and the messages that they give. */

import type { Prompt } from '@mortise/protocol/model';
import type { JSX } from 'preact';
import { CompletedInput } from './completed-input.tsx';
import { Heading, ItemList } from './item-list.tsx';
import { useKept } from './kept.ts';
import { RunView } from './run-view.tsx';
import { startRun } from './runs.ts';
import { loadList, type ServerModel } from './state.ts';
import { visible } from './text.ts';

export function PromptsView({ server }: { server: ServerModel }): JSX.Element {
  const [name, setName] = useKept<string | undefined>(server, 'prompt', () => undefined);
  const list = server.lists.prompts.value;
  const prompt = list.items.find((each) => each.name === name) ?? list.items[0];
  const items = list.items.map(({ name: key, title = key, description }) => ({
    key,
    title,
    name: title === key ? undefined : key,
    about: description,
  }));
  return (
    <div class="split">
      <ItemList
        label="Prompts"
        list={list}
        items={items}
        chosen={prompt?.name}
        onChoose={setName}
        onReload={() => void loadList(server, 'prompts')}
      />
      {prompt && <PromptPane key={prompt.name} server={server} prompt={prompt} />}
    </div>
  );
}

function PromptPane({ server, prompt }: { server: ServerModel; prompt: Prompt }): JSX.Element {
  const [values, setValues] = useKept<Readonly<Record<string, string>>>(server, `prompt ${prompt.name}`, () => ({}));
  const run = server.runs.value.find((each) => each.method === 'prompts/get' && each.name === prompt.name);
  const get = (): void => {
    startRun(server, 'prompts/get', prompt.name, { name: prompt.name, arguments: values });
  };
  return (
    <section class="pane" aria-label={`Prompt ${visible(prompt.name)}`}>
      <Heading name={prompt.name} title={prompt.title} />
      {prompt.description !== undefined && <p class="about">{visible(prompt.description)}</p>}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          get();
        }}
      >
        {prompt.arguments?.map(({ name, description, required }) => (
          <CompletedInput
            key={name}
            server={server}
            completionRef={{ type: 'ref/prompt', name: prompt.name }}
            name={name}
            about={description}
            isRequired={required === true}
            values={values}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        <div class="buttons">
          <button type="submit" class="main">
            Get
          </button>
        </div>
      </form>
      {run && <RunView run={run} onRepeat={get} />}
    </section>
  );
}
