/**
 * Waits for a condition.
 *
 * @throws {Error} when it has not come true within ten seconds
 */
export async function until(condition: () => boolean | Promise<boolean>, what = 'The condition'): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come true.`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
