/**
 * A binding that the application serves, as the card advertises it.
 *
 * @see A2A v1.0 §4.4.6 AgentInterface
 */
export interface MountedBinding {
  /** Such as `JSONRPC`. */
  readonly protocolBinding: string;
  /**
   * Where clients find it. Not to be asked before the application is initialised.
   *
   * @param base the base URL of the application, without a slash at its end; `''` gives the path alone
   */
  urlAt(base: string): string;
}

/** The injection token of the bindings that are mounted, the preferred one first. */
export const A2A_MOUNTED_BINDINGS = Symbol('A2A_MOUNTED_BINDINGS');
