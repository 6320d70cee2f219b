/** What a tool's handler gave back, in whichever of the short forms, as the result that the protocol wants. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { CallToolResult, ContentBlock } from '@mortise/protocol';
import { isContentBlock } from '@mortise/protocol/checks';
import type { SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import { InvalidHandlerResultError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';

/** The tool whose result it is. */
export interface ResultOwner {
  readonly name: string;
  /** Checks `structuredContent`; undefined for a tool without `outputSchema`. */
  readonly output?: SchemaAdapter | undefined;
}

/**
 * Text and blocks become `content`; `structuredContent` is checked, takes the form that the output schema gives it, and is
 * mirrored as JSON text where there is no `content`. An error result is not checked. A result of another kind
 * (`resultType: 'input_required'`, an extension's) is passed on untouched.
 *
 * Gives a promise only where the output schema's check gives one, or finds something for the first time.
 *
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: not a result, or not one that `outputSchema` allows. The message
 *   is for the server's author: it names types, never values.
 * @see 2026-07-28 server/tools#structured-content
 */
export function normalizeToolResult(value: unknown, owner: ResultOwner): CallToolResult | Promise<CallToolResult> {
  const result = toResultObject(value, owner);
  if (isOfAnotherKind(result)) return result as CallToolResult;
  if (result['isError'] === true) return complete(result, result['structuredContent'], owner);
  if (owner.output === undefined) return complete(result, result['structuredContent'], owner);
  if (result['structuredContent'] === undefined) {
    throw fault(
      owner,
      'outputSchema is declared, but the handler gave no structuredContent: return { structuredContent: ... }, or isError: true with content',
    );
  }
  const outcome = owner.output.validate(result['structuredContent']);
  return 'then' in outcome ? outcome.then((checked) => acceptOutput(checked, result, owner)) : acceptOutput(outcome, result, owner);
}

function toResultObject(value: unknown, owner: ResultOwner): JsonObject {
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (Array.isArray(value)) return { content: value };
  if (typeof value !== 'object' || value === null) {
    throw fault(
      owner,
      `the handler gave ${value == null ? String(value) : `a ${typeof value}`}: return text, content blocks, or { content } or { structuredContent }`,
    );
  }
  const { content } = value as { readonly content?: unknown };
  return content === undefined && isContentBlock(value) ? { content: [value] } : (value as JsonObject);
}

function isOfAnotherKind(result: JsonObject): boolean {
  return typeof result['resultType'] === 'string' && result['resultType'] !== 'complete';
}

function acceptOutput(outcome: SchemaOutcome<unknown>, result: JsonObject, owner: ResultOwner): CallToolResult {
  if (!('issues' in outcome)) return complete(result, outcome.value as JsonValue | undefined, owner);
  const problem = describeIssues(outcome.issues, {
    owner: `tool "${owner.name}"`,
    part: 'structuredContent field',
    whole: 'structuredContent',
    value: result['structuredContent'],
    showValues: false,
  });
  throw new InvalidHandlerResultError(`${problem}: the handler must give what outputSchema says`);
}

function complete(result: JsonObject, structuredContent: JsonValue | undefined, owner: ResultOwner): CallToolResult {
  const content = result['content'] ?? mirror(structuredContent, result, owner);
  if (!Array.isArray(content))
    throw fault(
      owner,
      `content must be an array of blocks, got ${(content as unknown) instanceof Promise ? 'a promise: await it' : typeof content}`,
    );
  for (let i = 0; i < content.length; i += 1) if (!isText(content[i])) checkBlock(content[i], i, owner);
  if (result['content'] === content && result['structuredContent'] === structuredContent) return result as CallToolResult;
  // Written member by member: a copy with `...rest` costs more than the whole of the rest.
  const completed: Record<string, JsonValue | undefined> = { content };
  if (structuredContent !== undefined) completed['structuredContent'] = structuredContent;
  for (const key of Object.keys(result)) if (key !== 'content' && key !== 'structuredContent') completed[key] = result[key];
  return completed as CallToolResult;
}

/** `null` is a value and is mirrored; an error that says nothing has no content. */
function mirror(structuredContent: JsonValue | undefined, result: JsonObject, owner: ResultOwner): readonly ContentBlock[] {
  if (structuredContent === undefined) {
    if (result['isError'] === true || result['_meta'] !== undefined) return [];
    throw fault(
      owner,
      `the handler gave an object without content: put its fields into { structuredContent: ... }, got ${Object.keys(result).slice(0, 5).map(quote).join(', ') || 'no fields'}`,
    );
  }
  try {
    return [{ type: 'text', text: JSON.stringify(structuredContent) }];
  } catch (cause) {
    throw fault(owner, `structuredContent ${whyNotJson(structuredContent)}`, cause);
  }
}

/** Names what is asked for last: that is where writing stops. */
function whyNotJson(value: JsonValue): string {
  let name = '';
  let last: unknown;
  try {
    JSON.stringify(value, (key, member: unknown) => {
      name = key;
      return (last = member);
    });
  } catch {
    // It cannot be written: that is known.
  }
  const remedy = typeof last === 'bigint' ? 'give the BigInt as text' : 'take out what leads back to itself';
  return `cannot be written as JSON${name === '' ? '' : ` at ${quote(name)}`}: ${remedy}`;
}

function quote(name: string): string {
  return `"${name}"`;
}

/** The fields that a block of a kind cannot be without. */
const BLOCK_TEXTS: Readonly<Record<ContentBlock['type'], readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
};

/** Nearly every block is text. */
function isText(block: unknown): boolean {
  if (typeof block !== 'object' || block === null) return false;
  const { type, text } = block as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' && typeof text === 'string';
}

function checkBlock(block: unknown, index: number, owner: ResultOwner): void {
  if (!isContentBlock(block))
    throw fault(owner, `content[${index}] is not a block: its "type" must be one of ${Object.keys(BLOCK_TEXTS).join(', ')}`);
  for (const field of BLOCK_TEXTS[block.type]) {
    if (typeof block[field] !== 'string') throw fault(owner, `content[${index}] of type "${block.type}" must have "${field}" as a string`);
  }
  if ((block.type === 'image' || block.type === 'audio') && !isBase64(block.data)) {
    throw fault(owner, `content[${index}] of type "${block.type}" must have "data" as padded base64, not as text or a data: URL`);
  }
  if (block.type === 'resource' && !isEmbeddable(block.resource)) {
    throw fault(owner, `content[${index}] of type "resource" must have "resource" with a "uri" and either "text" or "blob"`);
  }
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isEmbeddable(resource: unknown): boolean {
  if (typeof resource !== 'object' || resource === null) return false;
  const { uri, text, blob } = resource as { readonly uri?: unknown; readonly text?: unknown; readonly blob?: unknown };
  return typeof uri === 'string' && (typeof text === 'string') !== (typeof blob === 'string');
}

function fault(owner: ResultOwner, reason: string, cause?: unknown): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`tool "${owner.name}": ${reason}`, cause === undefined ? undefined : { cause });
}
