/** Keeps `width` of `count` calls going at all times. */
export async function inFlight(count, width, call) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await call(next);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
