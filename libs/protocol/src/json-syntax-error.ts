/** Says that a text is not JSON, or not JSON that this package accepts. Its message never quotes the text. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';

  /**
   * @param problem What is wrong, without a word of the input.
   * @param position Where, in UTF-16 code units from the start.
   */
  constructor(
    problem: string,
    readonly position: number,
  ) {
    super(`${problem} at position ${position}`);
  }
}
