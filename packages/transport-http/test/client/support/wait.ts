/** Waiting for what must happen, without sleeping. */

/** Waits until something holds that only an event can bring about. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** Lets everything that is ready to run, run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Lets many turns pass, for what must not happen. */
export async function turns(count = 20): Promise<void> {
  for (let n = 0; n < count; n++) await turn();
}
