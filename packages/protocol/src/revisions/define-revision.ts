/** Builds a protocol revision from the previous one and a list of changes, and the `Revision` objects from the list of all revisions. */

import { type CapabilitySide, dropCapabilities, foreignCapabilities } from './capabilities.ts';
import { mapField } from './reshape.ts';
import type { Conversions, Convert, HttpRules, MethodFacts, Revision, Rules } from './revision.ts';

/** Functions that convert params, results and notifications, by method. */
export interface ConvertTable {
  readonly params?: Readonly<Record<string, Convert>>;
  readonly results?: Readonly<Record<string, Convert>>;
  readonly notifications?: Readonly<Record<string, Convert>>;
}

/** The conversions between the messages of a revision and those of the previous revision. */
export interface Hop {
  /** Converts messages to the previous revision: reverts what this revision added or changed. Keeps members only older revisions have. */
  readonly toPrevious?: ConvertTable;
  /** Drops from messages what this revision removed, for peers of this and newer revisions. */
  readonly withoutRemoved?: ConvertTable;
  /** Converts messages of peers of older revisions to the form of this revision. */
  readonly fromPrevious?: ConvertTable;
}

/** A revision from `defineRevision`, before `composeRevisions` joins its conversions with those of the other revisions. */
export type RevisionFacts = Omit<Revision, 'toWire' | 'fromWire' | 'foreignCapabilities'> & {
  /** The previous revision; undefined for the first revision. */
  readonly after: RevisionFacts | undefined;
  readonly hop: Hop;
};

/** The methods, capabilities and error codes that a revision adds. */
export interface Additions {
  readonly requests?: Readonly<Record<string, MethodFacts>>;
  readonly notifications?: Readonly<Record<string, MethodFacts>>;
  readonly clientCapabilities?: readonly string[];
  readonly serverCapabilities?: readonly string[];
  readonly errorCodes?: Readonly<Record<string, number>>;
}

/** Changes to the definition of a method. A member set to `undefined` is removed; absent members stay unchanged. */
export type ChangedFacts = { readonly [Name in keyof MethodFacts]?: MethodFacts[Name] | undefined };

/** The methods whose definition a revision changes. */
export interface Changes {
  readonly requests?: Readonly<Record<string, ChangedFacts>>;
  readonly notifications?: Readonly<Record<string, ChangedFacts>>;
}

/** The names of methods, capabilities and error codes that a revision removes. */
export type Removals = { readonly [K in keyof Additions]?: readonly string[] };

/** A revision, defined by its changes to the previous one (`after`). The first revision has no `after` and defines every rule. */
export type RevisionDefinition = {
  readonly version: string;
  readonly era: Revision['era'];
  readonly adds?: Additions;
  readonly changes?: Changes;
  readonly removes?: Removals;
  readonly convert?: Hop;
} & (
  | { readonly after?: undefined; readonly rules: Rules; readonly http: HttpRules }
  | { readonly after: RevisionFacts; readonly rules: Partial<Rules>; readonly http: Partial<HttpRules> }
);

/**
 * Creates a revision by applying its changes to the previous one. Pass the newest result to `composeRevisions`.
 *
 * @throws {TypeError} The definition changes or removes a name that the previous revision does not have.
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineRevision(definition: RevisionDefinition): RevisionFacts {
  const { version, era, after, adds = {}, changes = {}, removes = {}, convert: hop = {} } = definition;
  return {
    version,
    toString: () => version,
    era,
    after,
    requests: nextMethods(after?.requests, adds.requests, changes.requests, removes.requests),
    notifications: nextMethods(after?.notifications, adds.notifications, changes.notifications, removes.notifications),
    clientCapabilities: nextNames(after?.clientCapabilities, adds.clientCapabilities, removes.clientCapabilities),
    serverCapabilities: nextNames(after?.serverCapabilities, adds.serverCapabilities, removes.serverCapabilities),
    errorCodes: without(new Map([...(after?.errorCodes ?? []), ...Object.entries(adds.errorCodes ?? {})]), removes.errorCodes),
    rules: { ...after?.rules, ...definition.rules } as Rules,
    http: { ...after?.http, ...definition.http } as HttpRules,
    hop,
  };
}

/**
 * Returns a revision and all previous ones, newest first, each with conversions from and to the canonical model (the types of
 * `@mortise/protocol/model`).
 *
 * The conversion to a revision first reverts what newer revisions added (newest first), then drops what this or an older revision removed.
 * Methods that need no conversion have no entry.
 */
/* @__NO_SIDE_EFFECTS__ */
export function composeRevisions(newest: RevisionFacts): readonly Revision[] {
  const all: RevisionFacts[] = [];
  for (let each: RevisionFacts | undefined = newest; each !== undefined; each = each.after) all.push(each);
  return all.map((facts, index) => composeRevision(facts, { newer: all.slice(0, index), older: all.slice(index + 1) }));
}

/** Creates one `Revision` by joining the conversions that its messages need. Both lists of revisions are newest first. */
function composeRevision(
  facts: RevisionFacts,
  { newer, older }: { readonly newer: readonly RevisionFacts[]; readonly older: readonly RevisionFacts[] },
): Revision {
  const { after: _after, hop: _hop, ...revision } = facts;
  const foreign = foreignCapabilities(facts, [...newer, ...older]);
  const undone = newer.map(({ hop }) => hop.toPrevious);
  const cleared = [...older.toReversed(), facts].map(({ hop }) => hop.withoutRemoved);
  const read = newer.toReversed().map(({ hop }) => hop.fromPrevious);
  return {
    ...revision,
    foreignCapabilities: foreign,
    toWire: join([...undone, ...cleared, convertCapabilities(facts, foreign)]),
    fromWire: join([convertCapabilities(facts, foreign, 'extensions'), ...read]),
  };
}

function nextMethods(
  before: ReadonlyMap<string, MethodFacts> | undefined,
  added: Readonly<Record<string, MethodFacts>> = {},
  changed: Readonly<Record<string, ChangedFacts>> = {},
  removed?: readonly string[],
): ReadonlyMap<string, MethodFacts> {
  const methods = new Map([...(before ?? []), ...Object.entries(added)]);
  for (const [method, facts] of Object.entries(changed)) {
    const old = methods.get(method);
    if (old === undefined)
      throw new TypeError(`The revision changes ${method}, which the previous revision does not have: list it in "adds"`);
    methods.set(
      method,
      Object.fromEntries(Object.entries({ ...old, ...facts }).filter(([, fact]) => fact !== undefined)) as unknown as MethodFacts,
    );
  }
  return without(methods, removed);
}

function nextNames(
  before: ReadonlySet<string> | undefined,
  added: readonly string[] = [],
  removed?: readonly string[],
): ReadonlySet<string> {
  return without(new Set([...(before ?? []), ...added]), removed);
}

function without<T extends Set<string> | Map<string, unknown>>(names: T, removed: readonly string[] = []): T {
  for (const name of removed) {
    if (!names.delete(name))
      throw new TypeError(`The revision removes ${name}, which the previous revision does not have: leave it out of "removes"`);
  }
  return names;
}

function join(tables: readonly (ConvertTable | undefined)[]): Conversions {
  return { params: joinOf(tables, 'params'), results: joinOf(tables, 'results'), notifications: joinOf(tables, 'notifications') };
}

function joinOf(tables: readonly (ConvertTable | undefined)[], kind: keyof ConvertTable): ReadonlyMap<string, Convert> {
  const joined = new Map<string, Convert>();
  for (const table of tables) {
    for (const [method, convert] of Object.entries(table?.[kind] ?? {})) {
      const before = joined.get(method);
      joined.set(method, before === undefined ? convert : (value) => convert(before(value)));
    }
  }
  return joined;
}

/** Creates conversions that drop the capabilities of other revisions, when sending and receiving. @param keep A name that is kept. */
function convertCapabilities(facts: RevisionFacts, foreign: Revision['foreignCapabilities'], keep?: string): ConvertTable {
  const convert = (side: CapabilitySide): Convert => {
    const dropped = new Set([...foreign[side]].filter((name) => name !== keep));
    return mapField('capabilities', (capabilities) => dropCapabilities(capabilities, dropped));
  };
  const server = convert('server');
  if (!facts.requests.has('initialize')) return { results: { 'server/discover': server } };
  return { params: { initialize: convert('client') }, results: { initialize: server } };
}
