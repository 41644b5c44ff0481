const MEDIA_TYPE = /^[\t ]*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)[\t ]*(?:;.*)?$/u;

/**
 * The media type of a `Content-Type` or part, in lower case and without parameters.
 *
 * @returns `undefined` when there is none
 */
export function essenceOf(contentType: string | undefined): string | undefined {
  return MEDIA_TYPE.exec(contentType ?? '')?.[1]?.toLowerCase();
}
