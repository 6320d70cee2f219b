/**
 * Puts a revision together from the one before it and its own changes, and a list of revisions into the values that the rest
 * of the code asks.
 */

import { type CapabilitySide, dropCapabilities, foreignCapabilities } from './capabilities.ts';
import { mapField } from './reshape.ts';
import type { Conversions, Convert, HttpRules, MethodFacts, Revision, Rules } from './revision.ts';

/** Conversions by method, as `convert.ts` writes them. */
export interface ConvertTable {
  readonly params?: Readonly<Record<string, Convert>>;
  readonly results?: Readonly<Record<string, Convert>>;
  readonly notifications?: Readonly<Record<string, Convert>>;
}

/** What differs between a revision's wire and the wire of the one before. */
export interface Hop {
  /** Undoes what this revision added or changed, for older peers. Leaves alone what only older revisions have. */
  readonly toPrevious?: ConvertTable;
  /** Drops what this revision removed, for its own peers and newer ones. */
  readonly withoutRemoved?: ConvertTable;
  /** Reads what an older peer wrote in this revision's terms. */
  readonly fromPrevious?: ConvertTable;
}

/** A revision's facts, before the conversions of all revisions are joined. */
export type RevisionFacts = Omit<Revision, 'toWire' | 'fromWire' | 'foreignCapabilities'> & {
  /** The revision before; undefined for the first. */
  readonly after: RevisionFacts | undefined;
  readonly hop: Hop;
};

/** Named things that a revision adds. */
export interface Additions {
  readonly requests?: Readonly<Record<string, MethodFacts>>;
  readonly notifications?: Readonly<Record<string, MethodFacts>>;
  readonly clientCapabilities?: readonly string[];
  readonly serverCapabilities?: readonly string[];
  readonly errorCodes?: Readonly<Record<string, number>>;
}

/** Facts of a method that change: members that are `undefined` are dropped, those that are not named stay as they were. */
export type ChangedFacts = { readonly [Name in keyof MethodFacts]?: MethodFacts[Name] | undefined };

/** Methods that stay but change. */
export interface Changes {
  readonly requests?: Readonly<Record<string, ChangedFacts>>;
  readonly notifications?: Readonly<Record<string, ChangedFacts>>;
}

/** Names of things that a revision removes. */
export type Removals = { readonly [K in keyof Additions]?: readonly string[] };

/** A revision as its change log. The first one has nothing before it and states every rule. */
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
 * Applies a change log to the revision before. Give the newest one to `composeRevisions`.
 *
 * @throws {TypeError} It changes or removes what the revision before does not have.
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
 * Gives a revision and all before it, newest first, as values whose conversions lead from each to every other.
 *
 * Joins their conversions: what is written for one is cleared of everything that newer ones added, newest first, and then of
 * everything that it or an older one had removed. A method without a difference is in no table.
 */
/* @__NO_SIDE_EFFECTS__ */
export function composeRevisions(newest: RevisionFacts): readonly Revision[] {
  const all: RevisionFacts[] = [];
  for (let each: RevisionFacts | undefined = newest; each !== undefined; each = each.after) all.push(each);
  return all.map((facts, index) => composeRevision(facts, { newer: all.slice(0, index), older: all.slice(index + 1) }));
}

/** @param others Newest first. */
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
    if (old === undefined) throw new TypeError(`${method} cannot change: the revision before does not have it`);
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
    if (!names.delete(name)) throw new TypeError(`${name} cannot be removed: the revision before does not have it`);
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

/** Drops from capabilities, as they are written or read, the keys that only other revisions have. @param keep One that stays. */
function convertCapabilities(facts: RevisionFacts, foreign: Revision['foreignCapabilities'], keep?: string): ConvertTable {
  const convert = (side: CapabilitySide): Convert => {
    const dropped = new Set([...foreign[side]].filter((name) => name !== keep));
    return mapField('capabilities', (capabilities) => dropCapabilities(capabilities, dropped));
  };
  const server = convert('server');
  if (!facts.requests.has('initialize')) return { results: { 'server/discover': server } };
  return { params: { initialize: convert('client') }, results: { initialize: server } };
}
