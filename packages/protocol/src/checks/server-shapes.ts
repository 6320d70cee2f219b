/** The shapes that only servers send, apart from the others so that servers need not carry their checks. */

import { META_SERVER_INFO, META_SUBSCRIPTION_ID } from '../model/meta.ts';
import { anyObject, array, boolean, type Check, every, id, later, object, oneOf, optional, string } from './check.ts';
import { annotations, icons, implementation, settings } from './shapes.ts';

const optionalString = optional(string);
const optionalObject = optional(anyObject);
const optionalBoolean = optional(boolean);

/** Any result. */
export const result: Check = later(() =>
  object({
    resultType: optionalString,
    _meta: optional(object({ [META_SERVER_INFO]: optional(implementation), [META_SUBSCRIPTION_ID]: optional(id) })),
  }),
);

const listCapability = optional(object({ listChanged: optionalBoolean }));

export const serverCapabilities: Check = object({
  experimental: settings,
  logging: optionalObject,
  completions: optionalObject,
  prompts: listCapability,
  resources: optional(object({ subscribe: optionalBoolean, listChanged: optionalBoolean })),
  tools: listCapability,
  tasks: optional(
    object({
      list: optionalObject,
      cancel: optionalObject,
      requests: optional(object({ tools: optional(object({ call: optionalObject })) })),
    }),
  ),
  extensions: settings,
});

export const resourceTemplate: Check = object({
  uriTemplate: string,
  name: string,
  title: optionalString,
  description: optionalString,
  mimeType: optionalString,
  annotations,
  icons,
  _meta: optionalObject,
});

export const tool: Check = object({
  name: string,
  title: optionalString,
  description: optionalString,
  inputSchema: object({ $schema: optionalString, type: oneOf('object'), properties: optionalObject, required: optional(array(string)) }),
  outputSchema: optional(object({ $schema: optionalString })),
  annotations: optional(
    object({
      title: optionalString,
      readOnlyHint: optionalBoolean,
      destructiveHint: optionalBoolean,
      idempotentHint: optionalBoolean,
      openWorldHint: optionalBoolean,
    }),
  ),
  execution: optional(object({ taskSupport: optional(oneOf('forbidden', 'optional', 'required')) })),
  icons,
  _meta: optionalObject,
});

export const prompt: Check = object({
  name: string,
  title: optionalString,
  description: optionalString,
  arguments: optional(array(object({ name: string, title: optionalString, description: optionalString, required: optionalBoolean }))),
  icons,
  _meta: optionalObject,
});

/** A result in pages. A `nextCursor` of `null` is read as none. */
export const pagedResult: Check = every(result, object({ nextCursor: (value) => (value == null ? undefined : string(value)) }));
