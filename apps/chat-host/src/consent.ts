/** Consent: each tool use is shown with its inputs first, and the user decides, for once or from now on. */

import { type Consent, rememberConsent, type ToolLock, type ToolPolicy, type ToolUse } from '@mortise/host';
import { clean, cleanAll, cleanLine } from './clean.ts';
import type { Screen } from './screen.ts';

const CHOICES = 'Run it? [y]es, [a]lways with inputs like these, always this [t]ool, always this [s]erver, [n]o: ';
const SCOPES = { a: 'arguments', t: 'tool', s: 'server' } as const;

/** @param decisions Where decisions are kept that the user wants to be remembered. */
export function askForConsent(screen: Screen, decisions: ToolLock): ToolPolicy {
  const policy = rememberConsent((use) => askUser(screen, use), decisions);
  return (use) => {
    screen.print(`${screen.style('magenta', '⚙')} ${screen.style('bold', clean(use.name))} ${clean(JSON.stringify(use.arguments))}`);
    return policy(use);
  };
}

async function askUser(screen: Screen, use: ToolUse): Promise<Consent> {
  for (;;) {
    const answer = await screen.ask(CHOICES, { lines: describe(screen, use), signal: use.signal });
    const choice = answer?.trim().toLowerCase().slice(0, 1) ?? 'n';
    if (choice === 'y') return true;
    if (choice === 'n') return false;
    if (choice === 'a' || choice === 't' || choice === 's') return { allow: true, remember: SCOPES[choice] };
  }
}

function describe(screen: Screen, { server, isChanged, tool, hints }: ToolUse): readonly string[] {
  const lines = [`  a tool of ${cleanLine(server)}${hints.isReadOnly ? ', which only reads' : ''}, that says of itself:`];
  lines.push(screen.style('dim', cleanAll(tool.description ?? '(nothing)')));
  if (isChanged) lines.unshift(screen.style('yellow', '  ! This tool has changed since you allowed it. Read what it says now.'));
  return lines;
}
