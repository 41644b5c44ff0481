import { formatPath, type JsonPath } from '../json-path.js';

/** Says that what user code handed over as a part is none. */
export class InvalidPartError extends Error {
  override readonly name = 'InvalidPartError';
  /** Where, such as `parts[0]`. */
  readonly path: string;

  constructor(path: JsonPath, problem: string) {
    const where = formatPath(path);
    super(`${where} ${problem}`);
    this.path = where;
  }
}
