/** `resources/list`: the registered resources, then the members that templates list, as one paged list. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { createContext } from '../call-context.ts';
import { InvalidHandlerResultError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import type { Catalog } from './catalog.ts';
import type { ResourceItem, TemplateItem } from './resource-items.ts';

/** Positions among templates' members: the template's place and how many of its members were shown. */
const MEMBER_POSITION = /^t(\d+):(\d+)$/;

export async function listWithMembers(
  resources: Catalog<ResourceItem>,
  templates: Catalog<TemplateItem>,
  listable: readonly TemplateItem[],
  call: RequestCall,
): Promise<JsonObject> {
  const { pageSize = 1000 } = call.core.options;
  const start = await resources.startOf(call);
  const member = MEMBER_POSITION.exec(start);
  const page = member ? { items: [], next: undefined } : resources.page(call, start);
  if (page.next === undefined) {
    let offset = Number(member?.[2] ?? 0);
    for (let index = Number(member?.[1] ?? 0); index < listable.length && page.next === undefined; index++, offset = 0) {
      const item = listable[index];
      if (!item || !templates.isVisible(item, call)) continue;
      const members = await listMembers(item, call);
      const room = pageSize - page.items.length;
      for (const definition of members.slice(offset, offset + room)) {
        const shown = resources.shape(definition, call);
        if (shown) page.items.push(shown);
      }
      if (members.length > offset + room) page.next = `t${index}:${offset + room}`;
    }
  }
  // What a callback lists may depend on who asks.
  return resources.toResult(page, call, true);
}

async function listMembers(item: TemplateItem, call: RequestCall): Promise<readonly JsonObject[]> {
  const listed = await item.template.listCallback?.(createContext(call));
  if (!isJsonObject(listed) || !Array.isArray(listed['resources'])) throw invalidMembers(item.key);
  return listed['resources'].map((member: JsonValue) => {
    if (!isJsonObject(member) || typeof member['uri'] !== 'string') throw invalidMembers(item.key);
    return item.defineMember(member);
  });
}

function invalidMembers(name: string): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`resource template "${name}": its list must give { resources: [{ uri, ... }] }`);
}
