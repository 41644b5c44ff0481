/**
 * Runs work that must end in time, and stops waiting for it when it does not.
 *
 * @param timeoutMs The time the work has, in milliseconds.
 * @param onTimeout Makes the error of work that is late.
 * @param signal Ends the work early; its reason is what is thrown then.
 * @param work Gets a signal that aborts when the time is up or `signal` aborts.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  onTimeout: () => Error,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(onTimeout());
  }, timeoutMs);
  const abort = (): void => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener('abort', abort);
  try {
    // The race ends the wait for work that does not listen to its signal. Work may abort it at once, so we listen first.
    return await Promise.race([aborted(controller.signal), work(controller.signal)]);
  } catch (error) {
    // What was torn down fails with errors of its own; the cause is the end of the time.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}
