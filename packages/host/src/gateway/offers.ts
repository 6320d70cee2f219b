/** What the servers behind offer, under the names of the gateway. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { toError } from '@mortise/jsonrpc-core/transport';
import { readParamHeaders } from '@mortise/protocol/checks';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';
import { invalidParamsError } from '@mortise/protocol/wire';
import { exposedName } from '../names.ts';
import type { ListedItems, ListName } from '../server-list.ts';
import type { Backend } from './backend.ts';
import type { GatewayCaller } from './gateway-options.ts';

/** Where something offered is: its server, and its name or URI there. */
export interface Place {
  readonly backend: Backend;
  readonly name: string;
  /** For a tool, the arguments that clients also send in headers. */
  readonly headers?: ParamHeaders | undefined;
  /** For a tool, whether it may run as a task. */
  readonly execution?: Tool['execution'];
}

export interface Offers {
  readonly items: readonly JsonObject[];
  /** By the name or URI under which the gateway offers it. */
  readonly places: ReadonlyMap<string, Place>;
}

/** An item as it is offered, its key, and its name or URI at the server. */
interface Offer {
  readonly item: object;
  readonly key: string;
  readonly name: string;
}

type ToOffer<Item> = (item: Item, backend: Backend, caller: GatewayCaller) => Offer | undefined;

const TO_OFFER: { readonly [N in ListName]: ToOffer<ListedItems[N]> } = {
  tools: (tool: Tool, backend, caller) => {
    const shown = backend.given.tools ? backend.given.tools(tool, caller) : tool;
    if (!shown) return undefined;
    const key = nameOf(shown.name, backend);
    // Without the option `tasks` the gateway itself waits for tasks: its clients see none.
    const { execution, ...rest } = shown;
    return { item: { ...rest, name: key, ...(backend.hasTasks && execution && { execution }) }, key, name: tool.name };
  },
  prompts: (prompt: Prompt, backend, caller) => {
    const shown = backend.given.prompts ? backend.given.prompts(prompt, caller) : prompt;
    if (!shown) return undefined;
    const key = nameOf(shown.name, backend);
    return { item: { ...shown, name: key }, key, name: prompt.name };
  },
  resources: (resource: Resource, { given }, caller) =>
    given.resources?.(resource, caller) === false ? undefined : { item: resource, key: resource.uri, name: resource.uri },
  resourceTemplates: (template: ResourceTemplate, { given }, caller) =>
    given.resourceTemplates?.(template, caller) === false
      ? undefined
      : { item: template, key: template.uriTemplate, name: template.uriTemplate },
};

/** Puts the lists of all servers together, as a caller is offered them. Of two items with the same key the first one counts. @param report Called when a filter throws. */
export function collectOffers<N extends ListName>(
  list: N,
  backends: readonly Backend[],
  lists: readonly (readonly ListedItems[N][])[],
  { caller, report }: { readonly caller: GatewayCaller; readonly report: (server: string, error: Error) => void },
): Offers {
  const items: JsonObject[] = [];
  const places = new Map<string, Place>();
  for (const [index, backend] of backends.entries()) {
    for (const listed of lists[index] ?? []) {
      let offer: Offer | undefined;
      try {
        offer = TO_OFFER[list](listed, backend, caller);
      } catch (error) {
        // A filter that throws leaves out the item: what a server lists must not hide the other items.
        report(backend.name, toError(error));
      }
      if (!offer || places.has(offer.key)) continue;
      const headers = list === 'tools' ? headersOf(offer.item as JsonObject) : undefined;
      const { execution } = offer.item as Tool;
      places.set(offer.key, { backend, name: offer.name, headers, execution });
      items.push(offer.item as JsonObject);
    }
  }
  return { items, places };
}

function nameOf(name: string, { name: server, given }: Backend): string {
  return given.keepsNames === true ? name : exposedName(server, name);
}

function headersOf({ inputSchema }: JsonObject): ParamHeaders | undefined {
  const headers = new Map<string, readonly string[]>();
  const isUsable = readParamHeaders(inputSchema as JsonObject, headers) === undefined && headers.size > 0;
  return isUsable ? headers : undefined;
}

/** Returns one page of a list. @throws {ProtocolError} -32602: the cursor is not one of this list. */
export function toPage(key: string, { items }: Offers, cursor: unknown, pageSize: number): JsonObject {
  const start = cursor === undefined ? 0 : Number(/^\d{1,9}$/u.test(String(cursor)) ? cursor : NaN);
  if (!(start === 0 || start < items.length))
    throw invalidParamsError('The cursor is not one of this list: read the list from its beginning');
  const end = start + pageSize;
  return { [key]: items.slice(start, end), ...(end < items.length ? { nextCursor: String(end) } : {}) };
}
