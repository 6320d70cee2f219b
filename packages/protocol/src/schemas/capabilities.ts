/** Capabilities. */

import type { z } from 'zod/v4';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import { JsonObjectSchema, loose, optionalBoolean, optionalObject, record } from './base.ts';

const settings = record(JsonObjectSchema).optional();
const listed = loose({ listChanged: optionalBoolean }).optional();

/** The zod twin of `ClientCapabilities`. */
export const ClientCapabilitiesSchema: z.ZodType<ClientCapabilities> = loose({
  experimental: settings,
  roots: listed,
  sampling: loose({ context: optionalObject, tools: optionalObject }).optional(),
  elicitation: loose({ form: optionalObject, url: optionalObject }).optional(),
  tasks: loose({
    list: optionalObject,
    cancel: optionalObject,
    requests: loose({
      sampling: loose({ createMessage: optionalObject }).optional(),
      elicitation: loose({ create: optionalObject }).optional(),
    }).optional(),
  }).optional(),
  extensions: settings,
});

/** The zod twin of `ServerCapabilities`. */
export const ServerCapabilitiesSchema: z.ZodType<ServerCapabilities> = loose({
  experimental: settings,
  logging: optionalObject,
  completions: optionalObject,
  prompts: listed,
  resources: loose({ subscribe: optionalBoolean, listChanged: optionalBoolean }).optional(),
  tools: listed,
  tasks: loose({
    list: optionalObject,
    cancel: optionalObject,
    requests: loose({ tools: loose({ call: optionalObject }).optional() }).optional(),
  }).optional(),
  extensions: settings,
});
