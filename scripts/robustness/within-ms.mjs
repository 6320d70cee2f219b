/** Whether a promise is kept in time. */
export async function withinMs(limitMs, promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const ended = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}
