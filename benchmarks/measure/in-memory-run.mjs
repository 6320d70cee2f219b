// Calls a tool in one process, 64 in flight, and prints calls a second of CPU time.
export async function measureCalls(call) {
  const run = async (count) => {
    let started = 0;
    const lane = async () => {
      while (started < count) {
        const a = started++;
        const result = await call(a, 1);
        if (result.structuredContent.sum !== a + 1) throw new Error('wrong answer');
      }
    };
    await Promise.all(Array.from({ length: 64 }, lane));
  };
  await run(20_000);
  const before = process.cpuUsage();
  const count = 100_000;
  await run(count);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ cpuUsPerCall: (user + system) / count })}\n`);
}
