/** `mortise doctor`: tries a server against the protocol, and says in plain words what is wrong and how to mend it. */

import type { Command } from 'commander';
import { diagnose, type Finding } from '../doctor/diagnose.ts';
import { CliError, ExitCode } from '../errors.ts';
import { addServerCommand, type ServerCommandOptions } from '../server-command.ts';
import { openWire } from '../doctor/open-wire.ts';
import { clean, type Terminal } from '../terminal.ts';

interface DoctorOptions extends ServerCommandOptions {
  readonly call?: boolean;
  readonly fixList?: boolean;
}

export function addDoctor(program: Command, terminal: Terminal): void {
  addServerCommand(program, 'doctor', 'Try a server against the protocol: what is wrong, which rule it breaks, how to mend it')
    .option('--call', 'also call the tools that take no arguments')
    .option('--fix-list', 'print only what is wrong, as JSON')
    .action((server: string, options: DoctorOptions) => examine(server, options, terminal));
}

async function examine(server: string, options: DoctorOptions, terminal: Terminal): Promise<void> {
  if (options.sse === true || options.protocol !== undefined || options.root !== undefined || options.config !== undefined)
    throw new CliError('doctor tries both eras over one transport: leave --sse, --protocol, --root and --config out');
  terminal.isJson = options.json === true || options.fixList === true;
  const findings: Finding[] = [];
  const onCheck = (rule: string): void => terminal.status(clean(rule));
  let era: Finding['era'];
  for await (const finding of diagnose(openWire(server, options, terminal), {
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
  if (fault !== undefined) terminal.print(`      ${clean(fault)}\n      ${terminal.style('bold', 'Mend:')} ${remedy ?? ''}`);
}

function printSum(findings: readonly Finding[], terminal: Terminal): void {
  const count = (wanted: Finding['outcome']): number => findings.filter(({ outcome }) => outcome === wanted).length;
  terminal.print(`\nOf ${findings.length} checks ${count('ok')} hold. Faults: ${count('fault')}. Advice: ${count('advice')}.`);
}
