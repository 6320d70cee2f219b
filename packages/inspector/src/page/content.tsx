/** Content of results: text, images, sounds, resources and structured values. Nothing of it is ever markup or a link that opens by itself. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { parseJson } from './json-field.tsx';
import { JsonTree } from './json-tree.tsx';
import { formatBytes, visible } from './text.ts';

/** More text than this is shown only when the user wants it. */
const LONG_TEXT = 100_000;
const IMAGES = /^image\/(?:png|jpeg|gif|webp|svg\+xml|avif|bmp)$/;
const SOUNDS = /^audio\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

export function Content({ block }: { block: unknown }): JSX.Element {
  if (!isJsonObject(block)) return <JsonTree value={block as JsonValue} />;
  const { type, text, data, mimeType, resource, uri } = block;
  if (type === 'text' && typeof text === 'string') return <TextBlock text={text} />;
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return <Media data={data} mimeType={String(mimeType)} />;
  if (type === 'resource' && isJsonObject(resource)) return <ResourceContent content={resource} />;
  if (type === 'resource_link')
    return (
      <p>
        Link to the resource <code>{visible(String(uri))}</code>
      </p>
    );
  return <JsonTree value={block} isOpen />;
}

/** The content of a resource: text by its media type, or bytes. */
export function ResourceContent({ content }: { content: JsonObject }): JSX.Element {
  const { uri, mimeType, text, blob } = content;
  const isJson = typeof mimeType === 'string' && /[/+]json\b/.test(mimeType);
  const parsed = isJson && typeof text === 'string' ? parseJson(text) : undefined;
  return (
    <section class="resource">
      <p class="quiet">
        <code>{visible(String(uri))}</code> {mimeType !== undefined && visible(String(mimeType))}
      </p>
      {parsed !== undefined && <JsonTree value={parsed} isOpen />}
      {typeof text === 'string' && parsed === undefined && <TextBlock text={text} />}
      {typeof blob === 'string' && <Media data={blob} mimeType={String(mimeType)} />}
    </section>
  );
}

/** Text as it is: Markdown and HTML too. */
export function TextBlock({ text }: { text: string }): JSX.Element {
  const [showsAll, setShowsAll] = useState(false);
  const isLong = text.length > LONG_TEXT && !showsAll;
  return (
    <>
      {/* A long text scrolls, and what scrolls must be reached by keyboard. */}
      <pre tabIndex={0}>{visible(isLong ? text.slice(0, LONG_TEXT) : text)}</pre>
      {isLong && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show all {text.length} characters
        </button>
      )}
    </>
  );
}

function Media({ data, mimeType }: { data: string; mimeType: string }): JSX.Element {
  const size = formatBytes(Math.floor((data.length * 3) / 4));
  const isBase64 = BASE64.test(data);
  if (isBase64 && IMAGES.test(mimeType))
    return <img src={`data:${mimeType};base64,${data}`} alt={`Image of the result, ${mimeType}, ${size}`} />;
  if (isBase64 && SOUNDS.test(mimeType))
    return <audio controls src={`data:${mimeType};base64,${data}`} aria-label={`Sound of the result, ${mimeType}, ${size}`} />;
  return (
    <p>
      {size} of {visible(mimeType)}
    </p>
  );
}

/** A structured value: rows as tables, the rest as a tree. */
export function Structured({ value }: { value: JsonValue }): JSX.Element {
  const tables = tablesIn(value);
  return (
    <>
      {tables.map(([name, rows]) => (
        <Table key={name} name={name} rows={rows} />
      ))}
      <JsonTree value={value} isOpen={tables.length === 0} name={tables.length === 0 ? undefined : 'as a tree'} />
    </>
  );
}

const MAX_ROWS = 200;
const MAX_COLUMNS = 30;

/** The value itself, or members of it, that are lists of objects. */
function tablesIn(value: JsonValue): readonly [string, readonly JsonObject[]][] {
  const candidates: [string, unknown][] = Array.isArray(value) ? [['result', value]] : isJsonObject(value) ? Object.entries(value) : [];
  return candidates.filter((each): each is [string, readonly JsonObject[]] => isRows(each[1]));
}

const isRows = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every((row) => isJsonObject(row));

function Table({ name, rows }: { name: string; rows: readonly JsonObject[] }): JSX.Element {
  const shown = rows.slice(0, MAX_ROWS);
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table ${visible(name)}`}>
      <table>
        <caption>
          {visible(name)} ({rows.length > MAX_ROWS ? `the first ${MAX_ROWS} of ${rows.length}` : rows.length})
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col">{visible(column)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr>
              {columns.map((column) => (
                <td>{toCell(row[column])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const toCell = (value: JsonValue | undefined): string =>
  value === undefined ? '' : visible((typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 1_000));
