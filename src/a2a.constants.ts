/** The injection token of the module's options as the host gave them. */
export const A2A_OPTIONS = Symbol('A2A_OPTIONS');
