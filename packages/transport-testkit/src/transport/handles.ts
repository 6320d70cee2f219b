/** Test cases for T14 of `Transport`: a closed transport leaves nothing that would keep the process alive. */

import { check, turns } from '../check.ts';
import { Listener, note, startBoth, type TransportCase, type TransportPair } from './transport-case.ts';

/** Lists the kinds of the resources (handles) that keep this process alive, such as timers. Fails if the platform cannot list them. */
function listHandles(): readonly string[] {
  const { process } = globalThis as { process?: { getActiveResourcesInfo?: () => string[] } };
  check(typeof process?.getActiveResourcesInfo === 'function', 'The trait "handles" needs process.getActiveResourcesInfo');
  return process.getActiveResourcesInfo();
}

function countByKind(handles: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of handles) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Lists the kinds of which there are many more than before. A few come and go with what else the process runs, such as a test runner. */
function findLeaks(before: ReadonlyMap<string, number>): readonly string[] {
  return [...countByKind(listHandles())]
    .map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const)
    .filter(([, more]) => more >= ROUNDS / 2)
    .map(([kind, more]) => `${more} ${kind}`);
}

/** Counts the handles of each kind before the test. Takes the lowest of several counts, because a test runner's timers come and go. */
async function takeBaseline(): Promise<ReadonlyMap<string, number>> {
  const fewest = new Map(countByKind(listHandles()));
  for (let turn = 0; turn < BASELINE_TURNS; turn++) {
    await turns(1);
    const counts = countByKind(listHandles());
    for (const [kind, count] of fewest) fewest.set(kind, Math.min(count, counts.get(kind) ?? 0));
  }
  return fewest;
}

const BASELINE_TURNS = 20;

/** How often a transport is opened and closed, so that what each leaks adds up. */
const ROUNDS = 8;

/** How many turns of the event loop a handle may take to close. A handle that stays longer counts as leaked. */
const PATIENT_TURNS = 300;

async function leavesNothing(use: (pair: TransportPair) => Promise<void>, create: () => Promise<TransportPair>): Promise<void> {
  const before = await takeBaseline();
  for (let round = 0; round < ROUNDS; round++) {
    const pair = await create();
    await use(pair);
    await pair.close();
  }
  for (let turn = 0; turn < PATIENT_TURNS && findLeaks(before).length > 0; turn++) await turns(1);
  const left = findLeaks(before);
  check(left.length === 0, `Nothing should be left after close, but of ${ROUNDS} pairs there is: ${left.join(', ')}`);
}

export const handlesCases: readonly TransportCase[] = [
  {
    id: 'T14.1',
    title: 'leaves no timer and no handle after it was used and closed',
    needs: ['handles'],
    run: (_, setup) =>
      leavesNothing(
        async (pair) => {
          const listener = new Listener(pair.server);
          await startBoth(pair);
          await pair.client.send(note(0));
          await listener.hasMessages(1);
        },
        () => setup.create(),
      ),
  },
  {
    id: 'T14.2',
    title: 'leaves no timer and no handle after it was closed unused',
    needs: ['handles'],
    run: (_, setup) =>
      leavesNothing(
        async () => undefined,
        () => setup.create(),
      ),
  },
];
