/**
 * Names under which no public host lives: RFC 6761, RFC 6762 Appendix G, RFC 8375, and the top-level domain that ICANN
 * keeps for private use (`internal`, where clouds also put their metadata services).
 */
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'home.arpa',
  'lan',
];

/**
 * Tells whether a host name is known to belong to this machine or to a private network.
 *
 * @param host In lower case, without a trailing dot. A name of one label is private: it is completed by a search domain.
 */
export function isPrivateName(host: string): boolean {
  return !host.includes('.') || PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}
