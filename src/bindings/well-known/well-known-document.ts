import type { Addressed } from '../../card/card.service.js';

/** A document that is open to everybody, at the root of the domain. */
export interface WellKnownDocument {
  readonly contentType: string;
  /** Where it is; none when there is no such document. Asked when the application is initialised. */
  paths(): readonly string[];
  /**
   * @param request the request of the host's HTTP adapter
   * @throws {InvalidHostError} when the document depends on where the request was sent to, which is nowhere
   */
  answer(request: unknown): Promise<Addressed>;
}

/** The injection token of the documents that are served. */
export const A2A_WELL_KNOWN_DOCUMENTS = Symbol('A2A_WELL_KNOWN_DOCUMENTS');
