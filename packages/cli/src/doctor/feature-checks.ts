/** Checks of tools, resources and prompts. They read lists and ask for what does not exist; no tool is called. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { RESOURCE_NOT_FOUND_LEGACY } from '@mortise/protocol/wire';
import { type Check, expectError, listFaults, resultOf } from './check.ts';
import type { Dialogue } from './dialogue.ts';

const NONE = 'mortise-no-such-name';
const NO_URI = 'mortise-none://no/such/resource';

const toolsOf = async (dialogue: Dialogue): Promise<readonly JsonObject[]> => (await dialogue.list('tools/list', 'tools')).items;
const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? `"${name}"` : 'one without a name');

function findDoubles(items: readonly JsonObject[], member: string): readonly string[] {
  const seen = new Set<JsonValue>();
  const doubles = items.map((item) => item[member] ?? null).filter((value) => seen.size === seen.add(value).size);
  return [...new Set(doubles)].map((value) => `${JSON.stringify(value)} is listed more than once`);
}

function findSchemaFault(schema: unknown): string | undefined {
  try {
    createJsonSchemaValidator({ from: 'peer' }).compile(schema as JsonValue);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export const FEATURE_CHECKS: readonly Check[] = [
  {
    row: 'TOOL-006',
    needs: 'tools',
    rule: 'every tool has a name, and an inputSchema with type "object"',
    remedy: 'give the tool a name and an inputSchema of type "object"; {"type": "object"} if it takes nothing',
    run: async (dialogue) => {
      const tools = await toolsOf(dialogue);
      const isWrong = ({ name, inputSchema }: JsonObject): boolean =>
        typeof name !== 'string' || !isJsonObject(inputSchema) || inputSchema['type'] !== 'object';
      return listFaults(tools.filter(isWrong).map((tool) => `tool ${nameOf(tool)}`));
    },
  },
  {
    row: 'TOOL-011',
    needs: 'tools',
    isAdvice: true,
    rule: 'names of tools have 1 to 128 letters, digits, "_", "-" and "."',
    remedy: 'rename the tool: hosts and models refuse other names',
    run: async (dialogue) => {
      const wrong = (await toolsOf(dialogue)).filter(({ name }) => !/^[A-Za-z0-9_.-]{1,128}$/.test(String(name)));
      return listFaults(wrong.map((tool) => `tool ${nameOf(tool)}`));
    },
  },
  {
    row: 'TOOL-012',
    needs: 'tools',
    isAdvice: true,
    rule: 'names of tools are unique',
    remedy: 'rename one of them',
    run: async (dialogue) => listFaults(findDoubles(await toolsOf(dialogue), 'name')),
  },
  {
    row: 'JSCH-003',
    needs: 'tools',
    rule: 'schemas of tools are valid JSON Schema that can be checked',
    remedy: 'correct the schema: JSON Schema 2020-12, no reference to the network',
    run: async (dialogue) => {
      const tools = await toolsOf(dialogue);
      const schemas = tools.flatMap((tool) =>
        [tool['inputSchema'], tool['outputSchema']].filter(isJsonObject).map((schema) => [tool, findSchemaFault(schema)] as const),
      );
      return listFaults(schemas.filter(([, fault]) => fault !== undefined).map(([tool, fault]) => `tool ${nameOf(tool)}: ${fault ?? ''}`));
    },
  },
  {
    row: 'TOOL-035',
    needs: 'tools',
    era: 'legacy',
    rule: 'an outputSchema has type "object"',
    remedy: 'wrap the output in an object for clients of older revisions',
    run: async (dialogue) => {
      const wrong = (await toolsOf(dialogue)).filter(
        ({ outputSchema }) => outputSchema !== undefined && Object(outputSchema).type !== 'object',
      );
      return listFaults(wrong.map((tool) => `tool ${nameOf(tool)}`));
    },
  },
  {
    row: 'TOOL-003',
    needs: 'tools',
    era: 'modern',
    isAdvice: true,
    rule: 'tools are listed in the same order each time',
    remedy: 'keep the order of registration',
    run: async (dialogue) => {
      const [first, second] = [await dialogue.ask('tools/list'), await dialogue.ask('tools/list')].map((reply) =>
        JSON.stringify((resultOf(reply)['tools'] as JsonObject[] | undefined)?.map(({ name }) => name)),
      );
      return first === second ? undefined : 'two lists in a row have another order';
    },
  },
  {
    row: 'TOOL-044',
    needs: 'tools',
    isAdvice: true,
    rule: 'a call of an unknown tool is refused with -32602',
    remedy: 'answer -32602 for a name that is not listed',
    run: async (dialogue) => expectError(await dialogue.ask('tools/call', { name: NONE, arguments: {} }), INVALID_PARAMS),
  },
  {
    row: 'RES-003',
    needs: 'resources',
    rule: 'every resource has a name and a URI',
    remedy: 'give the resource a name, and a URI with a scheme',
    run: async (dialogue) => {
      const { items } = await dialogue.list('resources/list', 'resources');
      const wrong = items.filter(({ uri, name }) => typeof name !== 'string' || !URL.canParse(String(uri)));
      return listFaults([...wrong.map(({ uri }) => `resource ${JSON.stringify(uri)}`), ...findDoubles(items, 'uri')]);
    },
  },
  {
    row: 'RES-006',
    needs: 'resources',
    era: 'legacy',
    isAdvice: true,
    rule: 'a resource that does not exist is refused with -32002',
    remedy: 'answer -32002',
    run: async (dialogue) => expectError(await dialogue.ask('resources/read', { uri: NO_URI }), RESOURCE_NOT_FOUND_LEGACY),
  },
  {
    row: 'RES-007',
    needs: 'resources',
    era: 'modern',
    rule: 'a resource that does not exist is refused with -32602',
    remedy: 'answer -32602; -32002 is of older revisions',
    run: async (dialogue) => expectError(await dialogue.ask('resources/read', { uri: NO_URI }), INVALID_PARAMS),
  },
  {
    row: 'PROMPT-004',
    needs: 'prompts',
    rule: 'every prompt and every argument has a name, once',
    remedy: 'name it, or remove the double',
    run: async (dialogue) => {
      const { items } = await dialogue.list('prompts/list', 'prompts');
      const args = items.flatMap(({ arguments: list }) => (Array.isArray(list) ? list.filter(isJsonObject) : []));
      const nameless = [...items, ...args].filter(({ name }) => typeof name !== 'string');
      return listFaults([...nameless.map(() => 'one has no name'), ...findDoubles(items, 'name')]);
    },
  },
  {
    row: 'PROMPT-010',
    needs: 'prompts',
    isAdvice: true,
    rule: 'an unknown prompt is refused with -32602',
    remedy: 'answer -32602 for a name that is not listed',
    run: async (dialogue) => expectError(await dialogue.ask('prompts/get', { name: NONE }), INVALID_PARAMS),
  },
];

/** Only with `--call`: calls each tool that takes nothing. */
export const CALL_CHECKS: readonly Check[] = [
  {
    row: 'TOOL-027',
    needs: 'tools',
    rule: 'a tool result has a content array, and structuredContent where the tool has an outputSchema',
    remedy: 'return content, and structuredContent that fits the outputSchema',
    run: async (dialogue) => {
      const callable = (await toolsOf(dialogue)).filter(takesNothing);
      const faults: string[] = [];
      for (const tool of callable) {
        const { message } = await dialogue.ask('tools/call', { name: tool['name'] ?? null, arguments: {} });
        // An error is an answer, too: a tool may need what this client has not declared.
        const fault = isJsonObject(message?.['result']) ? checkResult(tool, message['result']) : undefined;
        if (fault !== undefined) faults.push(`tool ${nameOf(tool)}: ${fault}`);
      }
      return listFaults(faults);
    },
  },
];

/** Whether a tool can be called without arguments, and does not say that it destroys something. */
function takesNothing({ inputSchema, annotations }: JsonObject): boolean {
  const { properties, required } = Object(inputSchema) as { readonly properties?: unknown; readonly required?: unknown };
  const isEmpty = [properties, required].every((part) => Object.keys(Object(part)).length === 0);
  return isEmpty && Object(annotations).destructiveHint !== true;
}

function checkResult({ outputSchema }: JsonObject, result: JsonObject): string | undefined {
  const { resultType = 'complete', isError } = result;
  if (resultType !== 'complete' || isError === true) return undefined;
  if (!Array.isArray(result['content'])) return 'the result has no content array';
  if (!isJsonObject(outputSchema)) return undefined;
  if (!('structuredContent' in result)) return 'the result has no structuredContent';
  try {
    const [issue] = createJsonSchemaValidator({ from: 'peer' }).compile(outputSchema)(result['structuredContent']);
    return issue && `structuredContent does not fit: ${issue.message}`;
  } catch {
    return undefined;
  }
}
