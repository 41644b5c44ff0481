/**
 * Waits for something, and no longer than a while.
 *
 * @param timeout milliseconds
 * @throws what is waited for throws meanwhile
 */
export async function within(work: Promise<unknown>, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeout);
  });
  try {
    await Promise.race([work, elapsed]);
  } finally {
    clearTimeout(timer);
  }
}
