/**
 * Who calls: the owner of what the call creates, and the bounds within which it sees what exists.
 *
 * @see A2A v1.0 §13.1 Data Access and Authorization Scoping
 */
export interface Principal {
  /** The user or account that owns the tasks of this call. Never empty. */
  readonly owner: string;
  /** The tenant that the call acts in; `''` when it acts in none. */
  readonly tenant: string;
  /** The scopes that the credential is narrowed to; `null` for an unnarrowed session, `[]` for the most restricted one. */
  readonly scopes: readonly string[] | null;
}

/** What a principal resolver may answer. No owner means that the caller is not authenticated. */
export interface PrincipalAnswer {
  readonly owner?: string | null | undefined;
  readonly tenant?: string | null | undefined;
  /** Absent or `null`: an unnarrowed session. */
  readonly scopes?: readonly string[] | null | undefined;
}
