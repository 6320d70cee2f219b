// What every measured client does: calls `add` with 16 in flight against the floor server, and prints its own CPU.
export async function runClient(call) {
  const count = Number(process.argv[2] ?? 20_000);
  const inFlight = 16;
  const run = async (calls) => {
    let started = 0;
    const lane = async () => {
      while (started < calls) {
        const a = started++;
        const result = await call(a, 1);
        if (result.structuredContent.sum !== a + 1) throw new Error(`wrong answer for ${a}: ${JSON.stringify(result)}`);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
  };
  await run(Math.min(3000, count));
  const before = process.cpuUsage();
  await run(count);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ cpuUsPerCall: (user + system) / count })}\n`);
}
export const floorServer = new URL('../floor/stdio-server.mjs', import.meta.url).pathname;
