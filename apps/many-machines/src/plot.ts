/** Draws what happened as an SVG: calls a second, how long they took, kills, and the times without the engine. */

import type { Outage, Sample } from './driver.ts';

export interface Story {
  readonly title: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly samples: readonly Sample[];
  readonly killsMs: readonly number[];
  readonly outages: readonly Outage[];
}

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [900, 420, 50, 40, 30];
const PANEL = (HEIGHT - TOP - GAP * 2) / 2;

export function plot({ title, fromMs, toMs, samples, killsMs, outages }: Story): string {
  const seconds = Math.max(1, Math.ceil((toMs - fromMs) / 1000));
  const x = (ms: number): number => LEFT + ((ms - fromMs) / 1000 / seconds) * (WIDTH - LEFT - 10);
  const buckets = Array.from({ length: seconds }, (): Sample[] => []);
  for (const sample of samples) buckets[Math.floor((sample.atMs - fromMs) / 1000)]?.push(sample);
  const good = buckets.map((bucket) => bucket.filter(({ isOk }) => isOk).length);
  const bad = buckets.map((bucket) => bucket.filter(({ isOk }) => !isOk).length);
  const slow = buckets.map(
    (bucket) =>
      quantile(
        bucket.map(({ tookMs }) => tookMs),
        0.99,
      ) / 1000,
  );
  const usual = buckets.map(
    (bucket) =>
      quantile(
        bucket.map(({ tookMs }) => tookMs),
        0.5,
      ) / 1000,
  );
  const line = (values: readonly number[], most: number, top: number, color: string): string =>
    `<polyline fill="none" stroke="${color}" stroke-width="1.5" points="${values
      .map((value, n) => `${x(fromMs + n * 1000).toFixed(1)},${(top + PANEL - (value / most) * PANEL).toFixed(1)}`)
      .join(' ')}"/>`;
  const axis = (top: number, most: number, label: string): string =>
    `<path d="M${LEFT} ${top}v${PANEL}H${WIDTH - 10}" fill="none" stroke="#888"/>` +
    `<text x="${LEFT - 6}" y="${top + 8}" text-anchor="end">${most.toFixed(most < 10 ? 1 : 0)}</text>` +
    `<text x="${LEFT + 6}" y="${top + 8}">${label}</text>`;
  const [mostCalls, mostSeconds] = [Math.max(1, ...good, ...bad), Math.max(1, ...slow)];
  const second = TOP + PANEL + GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="#fff"/><text x="${LEFT}" y="20" font-size="14">${title}</text>
${outages.map((each) => `<rect x="${x(each.fromMs)}" y="${TOP}" width="${x(Math.min(each.toMs, toMs)) - x(each.fromMs)}" height="${HEIGHT - TOP - GAP}" fill="#fdd"/>`).join('')}
${killsMs.map((ms) => `<path d="M${x(ms).toFixed(1)} ${TOP}V${HEIGHT - GAP}" stroke="#c55" stroke-dasharray="2 3"/>`).join('')}
${axis(TOP, mostCalls, 'calls a second: answered (green), failed (red)')}${line(good, mostCalls, TOP, '#292')}${line(bad, mostCalls, TOP, '#d22')}
${axis(second, mostSeconds, 'seconds a call: median (blue), 99 of 100 (grey)')}${line(slow, mostSeconds, second, '#999')}${line(usual, mostSeconds, second, '#22c')}
<text x="${LEFT}" y="${HEIGHT - 8}">0 to ${seconds} s. Dashed: a machine is killed. Pink: no engine.</text>
</svg>
`;
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
