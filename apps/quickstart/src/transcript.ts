/** Prints what the client does, so that a person can follow it. */

const isColourful = process.stdout.isTTY;
const paint = (code: number, text: string): string => (isColourful ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Opens a part of the transcript. */
export function heading(text: string): void {
  process.stdout.write(`\n${paint(1, text)}\n`);
}

/** One thing that was asked, and what came back. */
export function line(asked: string, answer: string): void {
  const shown = answer.length > 110 ? `${answer.slice(0, 107)}...` : answer;
  process.stdout.write(`  ${asked.padEnd(46)} ${paint(32, shown)}\n`);
}

/** Draws a progress bar in place on a terminal; elsewhere it draws the finished bar only. */
export function progressBar(label: string, progress: number, total: number): void {
  const isDone = progress >= total;
  if (!isColourful && !isDone) return;
  const filled = Math.round((progress / total) * 24);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(24 - filled)}`;
  process.stdout.write(`${isColourful ? '\r' : ''}  ${label.padEnd(46)} ${paint(36, bar)} ${progress}/${total}${isDone ? '\n' : ''}`);
}
