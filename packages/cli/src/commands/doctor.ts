/** `mortise doctor`: tries a server against the protocol, and says in plain words what is wrong and how to fix it. */

import type { Command } from 'commander';
import { openProgram, openSocket } from '../doctor/channel-wires.ts';
import { diagnose, type Finding } from '../doctor/diagnose.ts';
import { HttpWire } from '../doctor/http-wire.ts';
import type { OpenWire } from '../doctor/wire.ts';
import { CliError, ExitCode } from '../errors.ts';
import { addTargetOptions, toPositive } from '../server-command.ts';
import { parseTarget, type TargetOptions } from '../target.ts';
import { clean, type Terminal } from '../terminal.ts';

interface DoctorOptions extends TargetOptions {
  readonly json?: boolean;
  /** In seconds. */
  readonly timeout: number;
  readonly call?: boolean;
  readonly fixList?: boolean;
}

/** `npx` may have to install the server first. */
const TIMEOUT_SECONDS = 20;

export function addDoctor(program: Command, terminal: Terminal): void {
  const command = program
    .command('doctor <server>')
    .description('Try a server against the protocol: what is wrong, which rule it breaks, how to fix it');
  addTargetOptions(command)
    .option('--json', 'print JSON for programs')
    .option('--timeout <seconds>', 'how long an answer may take', toPositive, TIMEOUT_SECONDS)
    .option('--call', 'also call the tools that take no arguments')
    .option('--fix-list', 'print only what is wrong, as JSON')
    .action((server: string, options: DoctorOptions) => examine(server, options, terminal));
}

/** How to connect to the server. @throws {CliError} An option does not fit it. */
function toOpenWire(server: string, options: DoctorOptions, { io }: Terminal): OpenWire {
  if (options.sse === true) throw new CliError('doctor tries Streamable HTTP, stdio and WebSocket: leave --sse out');
  const target = parseTarget(server, options, io.cwd);
  const timeoutMs = options.timeout * 1000;
  if (target.type === 'stdio') return () => openProgram(target, timeoutMs);
  const { type, url, headers = {} } = target;
  return type === 'websocket' ? () => openSocket(url, headers, timeoutMs) : () => Promise.resolve(new HttpWire(url, headers, timeoutMs));
}

async function examine(server: string, options: DoctorOptions, terminal: Terminal): Promise<void> {
  terminal.isJson = options.json === true || options.fixList === true;
  const findings: Finding[] = [];
  const onCheck = (rule: string): void => terminal.status(clean(rule));
  let era: Finding['era'];
  for await (const finding of diagnose(toOpenWire(server, options, terminal), {
    calls: options.call === true,
    signal: terminal.io.signal,
    onCheck,
  })) {
    findings.push(finding);
    if (terminal.isJson) continue;
    if (finding.era !== era) terminal.print(terminal.style('cyan', `The ${finding.era ?? ''} era`));
    era = finding.era;
    printFinding(finding, terminal);
  }
  const faults = findings.filter(({ outcome }) => outcome !== 'ok');
  if (faults.some(({ outcome }) => outcome === 'fault')) terminal.exitCode = ExitCode.failed;
  if (terminal.isJson) terminal.printJson(options.fixList === true ? faults : findings);
  else printSum(findings, terminal);
}

const MARKS = { ok: ['green', '✓'], fault: ['red', '✗'], advice: ['yellow', '!'] } as const;

function printFinding({ row, outcome, rule, fault, remedy }: Finding, terminal: Terminal): void {
  const [color, mark] = MARKS[outcome];
  terminal.print(`  ${terminal.style(color, mark)} ${rule} ${terminal.style('dim', row)}`);
  if (fault !== undefined) terminal.print(`      ${clean(fault)}\n      ${terminal.style('bold', 'Fix:')} ${remedy ?? ''}`);
}

function printSum(findings: readonly Finding[], terminal: Terminal): void {
  const count = (wanted: Finding['outcome']): number => findings.filter(({ outcome }) => outcome === wanted).length;
  const silent = (['modern', 'legacy'] as const).filter((era) => findings.every((finding) => finding.era !== era));
  if (silent.length === 1) terminal.print(`\nThe server does not speak the ${silent[0]} era: nothing of it was tried.`);
  terminal.print(`\n${count('ok')} of ${findings.length} checks passed; faults: ${count('fault')}, advice: ${count('advice')}`);
}
