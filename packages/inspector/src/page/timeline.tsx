/** `Timeline`: a picture of the last calls: when each began, how long it took, and which ran side by side. */

import type { JSX } from 'preact';
import type { WireMessage } from '../messages.ts';
import { formatDuration } from './text.ts';

interface Bar {
  readonly seq: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly lane: number;
}

const MAX_CALLS = 200;
const MAX_LANES = 8;
const LANE = 7;
const WIDTH = 1000;

export function Timeline({ messages, chosen }: { messages: readonly WireMessage[]; chosen: number | undefined }): JSX.Element | null {
  const bars = toBars(messages);
  if (bars.length === 0) return null;
  const from = Math.min(...bars.map(({ startMs }) => startMs));
  const span = Math.max(...bars.map(({ endMs }) => endMs)) - from || 1;
  const lanes = Math.max(...bars.map(({ lane }) => lane)) + 1;
  const at = (timeMs: number): number => ((timeMs - from) / span) * WIDTH;
  const label = `The last ${bars.length} calls, over ${formatDuration(span)}`;
  return (
    <figure class="timeline">
      <svg viewBox={`0 0 ${WIDTH} ${lanes * LANE}`} preserveAspectRatio="none" height={lanes * LANE} role="img" aria-label={label}>
        {bars.map(({ seq, startMs, endMs, lane, isError }) => (
          <rect
            key={seq}
            class={`${isError ? 'fault' : ''}${seq === chosen ? ' chosen' : ''}`}
            x={at(startMs)}
            y={lane * LANE}
            width={Math.max(at(endMs) - at(startMs), 2)}
            height={LANE - 2}
          />
        ))}
      </svg>
      <figcaption class="quiet">{label}</figcaption>
    </figure>
  );
}

/** The newest responses, each on the first lane that is free when its call begins. */
function toBars(messages: readonly WireMessage[]): readonly Bar[] {
  const calls: WireMessage[] = [];
  for (let at = messages.length - 1; at >= 0 && calls.length < MAX_CALLS; at--) {
    const message = messages[at];
    if (message?.tookMs !== undefined) calls.push(message);
  }
  const ends: number[] = [];
  return calls
    .map(({ seq, timeMs, tookMs = 0, isError }) => ({ seq, startMs: timeMs - tookMs, endMs: timeMs, isError }))
    .toSorted((one, other) => one.startMs - other.startMs)
    .map((bar) => {
      const free = ends.findIndex((endMs) => endMs <= bar.startMs);
      const lane = free === -1 ? Math.min(ends.length, MAX_LANES - 1) : free;
      ends[lane] = bar.endMs;
      return { ...bar, lane };
    });
}
