import { StoreTimeoutError } from './store-errors.js';

/**
 * Bounds the time that a store may take.
 *
 * @param timeout milliseconds
 * @throws {StoreTimeoutError} when the store has not answered by then
 */
export function withinStoreTimeout<T>(operation: Promise<T>, timeout: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new StoreTimeoutError(timeout));
    }, timeout);
    operation.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
