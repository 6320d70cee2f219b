/** `diagnose`: tries a server in both eras and reports what it finds, check by check. */

import type { ProgramWire } from './channel-wires.ts';
import type { Check } from './check.ts';
import { Dialogue, type EraName } from './dialogue.ts';
import { CALL_CHECKS, FEATURE_CHECKS } from './feature-checks.ts';
import { HttpWire } from './http-wire.ts';
import { LAST_CHECKS, PROTOCOL_CHECKS } from './protocol-checks.ts';
import { checkAuthorization, END_CHECK, HTTP_CHECKS, PROGRAM_CHECKS } from './transport-checks.ts';
import type { OpenWire, Wire } from './wire.ts';

/** What one check found. */
export interface Finding {
  readonly row: string;
  readonly era: EraName | undefined;
  readonly outcome: 'ok' | 'fault' | 'advice';
  readonly rule: string;
  /** What is wrong, and what to do about it; only where the outcome is not `ok`. */
  readonly fault?: string;
  readonly remedy?: string;
}

export interface DiagnoseOptions {
  /** Also call tools that take no arguments. */
  readonly calls: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called before each check. */
  readonly onCheck: (rule: string) => void;
}

type Rule = Pick<Check, 'row' | 'rule' | 'remedy' | 'isAdvice'>;

/** Tries a server. Opens a new connection for each era. */
export async function* diagnose(openWire: OpenWire, options: DiagnoseOptions): AsyncGenerator<Finding, void> {
  let spoken = 0;
  /** What waits for an answer on a closed wire gets none, and the next check sees the signal. */
  const open = async (): Promise<Wire> => {
    options.signal?.throwIfAborted();
    const wire = await openWire();
    options.signal?.addEventListener('abort', () => void wire.close(), { once: true });
    return wire;
  };
  for (const era of ['modern', 'legacy'] as const) {
    const wire = await open();
    try {
      const dialogue = await Dialogue.open(era, wire);
      if (!dialogue) continue;
      spoken++;
      yield* runAll(dialogue, wire, open, options);
    } finally {
      await wire.close();
    }
  }
  if (spoken === 0) yield await explainSilence(open);
}

async function* runAll(dialogue: Dialogue, wire: Wire, open: OpenWire, options: DiagnoseOptions): AsyncGenerator<Finding, void> {
  const checks = [...PROTOCOL_CHECKS, ...FEATURE_CHECKS, ...(options.calls ? CALL_CHECKS : [])];
  const fits = ({ era = dialogue.era, needs }: Pick<Check, 'era' | 'needs'>): boolean =>
    era === dialogue.era && (needs === undefined || needs in dialogue.capabilities);
  const run = async (check: Rule, tried: () => Promise<string | undefined> | string | undefined): Promise<Finding> => {
    options.signal?.throwIfAborted();
    options.onCheck(check.rule);
    return toFinding(check, dialogue.era, await tried());
  };
  for (const check of checks.filter(fits))
    yield await run(check, () => (check.isFirst === true ? runFirst(check, dialogue, open) : check.run(dialogue, wire)));
  if (wire instanceof HttpWire) for (const check of HTTP_CHECKS.filter(fits)) yield await run(check, () => check.run(dialogue, wire));
  for (const check of LAST_CHECKS) yield await run(check, () => check.run(dialogue, wire));
  if (!isProgram(wire)) return;
  for (const check of PROGRAM_CHECKS) yield await run(check, () => check.run(dialogue, wire));
  yield await run(END_CHECK, () => (options.calls ? endAnother(dialogue.era, open) : END_CHECK.run(dialogue, wire)));
}

/** Tools that were called may have left timers behind, so another program is ended, in which none was. */
async function endAnother(era: EraName, open: OpenWire): Promise<string | undefined> {
  const wire = await open();
  try {
    const dialogue = await Dialogue.open(era, wire);
    return dialogue && isProgram(wire) ? await END_CHECK.run(dialogue, wire) : undefined;
  } finally {
    await wire.close();
  }
}

async function runFirst(check: Check, { era, version }: Dialogue, open: OpenWire): Promise<string | undefined> {
  const wire = await open();
  try {
    return await check.run(new Dialogue(era, wire, version), wire);
  } finally {
    await wire.close();
  }
}

const isProgram = (wire: Wire): wire is ProgramWire => wire.kind === 'stdio';

function toFinding({ row, rule, remedy, isAdvice }: Rule, era: EraName | undefined, fault: string | undefined): Finding {
  if (fault === undefined) return { row, era, outcome: 'ok', rule };
  return { row, era, outcome: isAdvice === true ? 'advice' : 'fault', rule, fault, remedy };
}

/** A server that speaks no era: it asks for a sign-in, or it is no MCP server. */
async function explainSilence(open: OpenWire): Promise<Finding> {
  const wire = await open();
  try {
    const { status } = await wire.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    if (wire instanceof HttpWire && status === 401) {
      const rule = 'a server that asks for a sign-in says where: resource metadata that names an authorization server';
      const fault = await checkAuthorization(wire);
      const remedy = 'serve /.well-known/oauth-protected-resource, and name it in WWW-Authenticate; give doctor a token with --header';
      return toFinding({ row: 'AUTH-012', rule, remedy }, undefined, fault);
    }
    const stray = wire.strays[0] === undefined ? '' : `; it wrote ${wire.strays[0]}`;
    const fault = `neither server/discover nor initialize was answered with a result${status === undefined ? '' : ` (status ${status})`}${stray}`;
    const remedy = 'check the command or the URL, and that the server writes its answers where its transport wants them';
    return toFinding({ row: 'LIFE-002', rule: 'the server answers in one of the eras', remedy }, undefined, fault);
  } finally {
    await wire.close();
  }
}
