/** Runs a tool from the record of its call, as a task does. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { type CallToolResult, findRevision } from '@mortise/protocol';
import type { HandlerRun, ToolCallRecord } from '@mortise/protocol/contracts';
import { RecordedCall } from './recorded-call.ts';
import type { Tools } from './registry/tools.ts';
import type { ServerCore } from './server-core.ts';
import { toCallError } from './wire-error.ts';

/**
 * @param tools Undefined for a low-level server.
 * @throws {ProtocolError} The tool or the record's revision is not known here, or the run ended by an error of the protocol.
 */
export async function runRecorded(
  core: ServerCore,
  tools: Tools | undefined,
  record: ToolCallRecord,
  run: HandlerRun,
): Promise<CallToolResult> {
  const revision = findRevision(record.revision);
  if (!revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The record of tool "${record.tool}" is of version ${record.revision}, which is not known here`,
    );
  const item = tools?.findAny(record.tool);
  if (!tools || !item) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${record.tool.slice(0, 128)}"`);
  const call = new RecordedCall(core, record, revision, run);
  try {
    return await tools.run(item, record.arguments, call);
  } catch (error) {
    if (run.signal.aborted) throw error;
    const { code, message, data } = toCallError(error, revision);
    throw new ProtocolError(code, message, data);
  } finally {
    call.end();
  }
}
