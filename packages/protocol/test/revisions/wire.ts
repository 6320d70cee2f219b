/** Writes and reads values as a revision's wire has them, for tests. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { findRevision, type Revision } from '@mortise/protocol';

/** A revision that must exist. */
export function revisionOf(version: string): Revision {
  const revision = findRevision(version);
  if (revision === undefined) throw new Error(`no revision ${version}`);
  return revision;
}

/** The five versions, oldest first. */
export const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

export function writeResult(version: string, method: string, value: JsonObject): JsonObject {
  return revisionOf(version).toWire.results.get(method)?.(value) ?? value;
}

export function writeParams(version: string, method: string, value: JsonObject): JsonObject {
  return revisionOf(version).toWire.params.get(method)?.(value) ?? value;
}

export function writeNotification(version: string, method: string, value: JsonObject): JsonObject {
  return revisionOf(version).toWire.notifications.get(method)?.(value) ?? value;
}

export function readParams(version: string, method: string, value: JsonObject): JsonObject {
  return revisionOf(version).fromWire.params.get(method)?.(value) ?? value;
}

export function readResult(version: string, method: string, value: JsonObject): JsonObject {
  return revisionOf(version).fromWire.results.get(method)?.(value) ?? value;
}
