/** `SchemaField`: draws a form from a JSON Schema: objects, arrays, unions, enumerations and formats, however nested. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import { JsonInput } from './json-field.tsx';
import { choicesOf, firstValue, kindOf, labelOf, namesIn, optionFor, optionsOf, propertiesOf, resolve } from './schema.ts';
import { visible } from './text.ts';

interface FieldProps {
  readonly schema: unknown;
  readonly root: JsonObject;
  readonly label: string;
  /** undefined leaves the value out. */
  readonly value: JsonValue | undefined;
  readonly isRequired: boolean;
  onChange(value: JsonValue | undefined): void;
}

type InputType = 'email' | 'url' | 'date' | 'time' | 'password';
const INPUT_TYPES: Readonly<Record<string, InputType>> = {
  email: 'email',
  uri: 'url',
  url: 'url',
  date: 'date',
  time: 'time',
  password: 'password',
};

/** Draws the properties of an object's schema. */
export function SchemaForm({
  schema,
  value,
  onChange,
}: {
  schema: JsonObject;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}): JSX.Element {
  const resolved = resolve(schema, schema);
  if (propertiesOf(resolved).length === 0)
    return <p class="quiet">It takes no arguments that the schema names. Write any into the JSON.</p>;
  return <Properties schema={resolved} root={schema} value={value} onChange={onChange} />;
}

interface PropertiesProps {
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly value: JsonObject;
  onChange(value: JsonObject): void;
}

function Properties({ schema, root, value, onChange }: PropertiesProps): JSX.Element {
  const required = new Set(namesIn(schema['required']));
  return (
    <>
      {propertiesOf(schema).map(([name, part]) => (
        <SchemaField
          key={name}
          schema={part}
          root={root}
          label={name}
          value={Object.hasOwn(value, name) ? value[name] : undefined}
          isRequired={required.has(name)}
          onChange={(next) => onChange(withMember(value, name, next))}
        />
      ))}
    </>
  );
}

function withMember(value: JsonObject, name: string, next: JsonValue | undefined): JsonObject {
  const { [name]: _before, ...others } = value;
  return next === undefined ? others : { ...value, [name]: next };
}

function SchemaField(props: FieldProps): JSX.Element {
  const schema = resolve(props.schema, props.root);
  const kind = kindOf(schema);
  if (kind === 'object' || kind === 'array' || kind === 'union') return <Nested {...props} schema={schema} />;
  return <Scalar {...props} schema={schema} />;
}

type DrawnProps = FieldProps & { readonly schema: JsonObject };

function Scalar({ schema, label, isRequired, value, onChange }: DrawnProps): JSX.Element {
  const id = useId();
  const about = aboutOf(schema);
  return (
    <div class="field">
      <label for={id}>
        {visible(titleOf(schema, label))}
        {isRequired && <span class="required"> (required)</span>}
      </label>
      <Input id={id} describedBy={about === '' ? undefined : `${id}-about`} {...{ schema, isRequired, value, onChange }} />
      {about !== '' && <small id={`${id}-about`}>{visible(about)}</small>}
    </div>
  );
}

interface InputProps {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly value: JsonValue | undefined;
  onChange(value: JsonValue | undefined): void;
}

function Input({ id, describedBy, schema, isRequired, value, onChange }: InputProps): JSX.Element {
  const attributes = { id, 'aria-describedby': describedBy };
  const choices = kindOf(schema) === 'boolean' ? BOOLEANS : choicesOf(schema);
  if (choices) {
    const at = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
    return (
      <select {...attributes} value={String(at)} onChange={(event) => onChange(choices[Number(event.currentTarget.value)]?.value)}>
        <option value="-1">{isRequired ? 'choose' : 'left out'}</option>
        {choices.map((choice, index) => (
          <option value={String(index)}>{visible(choice.label)}</option>
        ))}
      </select>
    );
  }
  switch (kindOf(schema)) {
    case 'number':
    case 'integer':
      return <NumberInput attributes={attributes} schema={schema} value={value} onChange={onChange} />;
    case 'string':
      return <TextInput attributes={attributes} schema={schema} isRequired={isRequired} value={value} onChange={onChange} />;
    case 'null':
      return <output {...attributes}>null</output>;
    default:
      return <JsonInput {...{ id, describedBy, value, onChange }} minRows={2} isRight={isLeftOrJson} />;
  }
}

/** For what a schema leaves open: any JSON, and an empty field leaves it out. */
const isLeftOrJson = (parsed: JsonValue | undefined, text: string): boolean => parsed !== undefined || text.trim() === '';

const BOOLEANS = [
  { value: true, label: 'true' },
  { value: false, label: 'false' },
];

interface BareProps {
  readonly attributes: { readonly id: string; readonly 'aria-describedby': string | undefined };
  readonly value: JsonValue | undefined;
  onChange(value: JsonValue | undefined): void;
}

function NumberInput({ attributes, schema, value, onChange }: BareProps & { schema: JsonObject }): JSX.Element {
  const { minimum, maximum } = schema;
  return (
    <input
      {...attributes}
      type="number"
      step={kindOf(schema) === 'integer' ? 1 : 'any'}
      min={typeof minimum === 'number' ? minimum : undefined}
      max={typeof maximum === 'number' ? maximum : undefined}
      value={typeof value === 'number' ? value : ''}
      onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
    />
  );
}

function TextInput({
  attributes,
  schema,
  isRequired,
  value,
  onChange,
}: BareProps & { schema: JsonObject; isRequired: boolean }): JSX.Element {
  const type = INPUT_TYPES[String(schema['format'])];
  const text = typeof value === 'string' ? value : '';
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }): void =>
    onChange(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value);
  // Preact's types know each type of input by its own members.
  if (type !== undefined) return <input {...({ ...attributes, type, value: text, onInput } as JSX.IntrinsicElements['input'])} />;
  return <textarea {...attributes} rows={1} spellcheck={false} value={text} onInput={onInput} onKeyDown={submitByEnter} />;
}

/** As in an input of one line; with Shift, Enter begins a line. */
function submitByEnter(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

// ---- objects, arrays and unions

function Nested(props: DrawnProps): JSX.Element {
  const { schema, root, label, isRequired, value, onChange } = props;
  const about = typeof schema['description'] === 'string' ? schema['description'] : '';
  return (
    <fieldset>
      <legend>
        {visible(titleOf(schema, label))}
        {isRequired && <span class="required"> (required)</span>}
      </legend>
      {about !== '' && <small>{visible(about)}</small>}
      {value === undefined ? (
        <button type="button" onClick={() => onChange(firstValue(schema, root) ?? null)}>
          Add {visible(label)}
        </button>
      ) : (
        <>
          <Inner {...props} />
          {!isRequired && (
            <button type="button" class="plain" onClick={() => onChange(undefined)}>
              Leave out {visible(label)}
            </button>
          )}
        </>
      )}
    </fieldset>
  );
}

function Inner(props: DrawnProps): ComponentChildren {
  const { schema, root, value, onChange } = props;
  const kind = kindOf(schema);
  if (kind === 'union') return <Union {...props} />;
  if (kind === 'object') return <Properties schema={schema} root={root} value={isJsonObject(value) ? value : {}} onChange={onChange} />;
  return <Items {...props} />;
}

function Union({ schema, root, label, value, onChange }: DrawnProps): JSX.Element {
  const id = useId();
  const options = optionsOf(schema) ?? [];
  const [at, setAt] = useState(() => optionFor(value, options, root));
  const choose = (next: number): void => {
    setAt(next);
    onChange(firstValue(options[next], root) ?? null);
  };
  return (
    <>
      <div class="field">
        <label for={id}>Kind of {visible(label)}</label>
        <select id={id} value={String(at)} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
          {options.map((option, index) => (
            <option value={String(index)}>{visible(labelOf(resolve(option, root), root, index))}</option>
          ))}
        </select>
      </div>
      <SchemaField
        key={at}
        schema={options[at]}
        root={root}
        label={label}
        value={value}
        isRequired
        onChange={(next) => onChange(next ?? null)}
      />
    </>
  );
}

function Items({ schema, root, label, value, onChange }: DrawnProps): JSX.Element {
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const replace = (at: number, next: JsonValue | undefined): void =>
    onChange(items.map((item, index) => (index === at ? (next ?? null) : item)));
  return (
    <>
      {items.map((item, at) => (
        <div class="item">
          <SchemaField
            schema={schema['items']}
            root={root}
            label={`${label} ${at + 1}`}
            value={item}
            isRequired
            onChange={(next) => replace(at, next)}
          />
          <button type="button" class="plain" onClick={() => onChange(items.filter((_, index) => index !== at))}>
            Remove {visible(label)} {at + 1}
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...items, firstValue(schema['items'], root) ?? null])}>
        Add to {visible(label)}
      </button>
    </>
  );
}

const titleOf = (schema: JsonObject, label: string): string =>
  typeof schema['title'] === 'string' ? `${schema['title']} (${label})` : label;

/** The description, and what a value has to keep. What schema libraries add of themselves is left out: a format's pattern, bounds of integers. */
function aboutOf(schema: JsonObject): string {
  const says = (rule: string): boolean =>
    schema[rule] !== undefined &&
    Math.abs(Number(schema[rule])) !== Number.MAX_SAFE_INTEGER &&
    (rule !== 'pattern' || schema['format'] === undefined);
  const rules = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength']
    .filter(says)
    .map((rule) => `${rule} ${String(schema[rule])}`);
  return [schema['description'], rules.join(', ')].filter((part) => typeof part === 'string' && part !== '').join(' · ');
}
