import { formatPath, type JsonPath } from './json-path.js';

/** Says that a value which should become JSON cannot. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
  /** Where, such as `parts[0].data.total`; empty when it is the value itself. */
  readonly path: string;

  constructor(path: JsonPath, problem: string) {
    const where = formatPath(path);
    super(`${where === '' ? 'The value' : where} is not JSON: ${problem}`);
    this.path = where;
  }
}
