/** How text from a server is shown: always as text, with characters that cannot be seen or reorder text made visible. */

export { escapeUnseen as visible } from '@mortise/client/host';

const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export const formatDuration = (ms: number): string =>
  ms < 10_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

export const formatTime = (timeMs: number): string => new Date(timeMs).toISOString().slice(11, 23);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
