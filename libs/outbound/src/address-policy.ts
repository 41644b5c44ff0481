import { BlockList, isIP } from 'node:net';

/** The blocks of the IANA IPv4 Special-Purpose Address Registry, multicast, and addresses that only a cloud answers at. */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private use
  ['100.64.0.0', 10], // shared by carriers (CGNAT); 100.100.100.200 is a metadata service
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // the platform of Azure, seen from its machines
  ['169.254.0.0', 16], // link-local; 169.254.169.254 is a metadata service
  ['172.16.0.0', 12], // private use
  ['192.0.0.0', 24], // protocol assignments; 192.0.0.192 is a metadata service
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private use
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
];

/** All but global unicast (2000::/3), and the blocks within it of the IANA IPv6 Special-Purpose Address Registry. */
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ['::', 3], // loopback, discard, segment routing, unassigned
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID, AMT
  ['2001:db8::', 32], // documentation
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
  ['4000::', 2], // unassigned
  ['8000::', 1], // unique local, link-local, site-local, multicast, unassigned
];

/** IPv6 blocks whose addresses stand for an IPv4 address, and the bytes in which it lies. */
const EMBEDDINGS: readonly { readonly block: BlockList; readonly readings: readonly (readonly number[])[] }[] = [
  embedding('::', 96, [[12, 13, 14, 15]]), // IPv4-compatible
  embedding('::ffff:0:0', 96, [[12, 13, 14, 15]]), // IPv4-mapped
  embedding('64:ff9b::', 96, [[12, 13, 14, 15]]), // NAT64
  // Local NAT64: whoever runs the translator chose one of the lengths of RFC 6052 §2.2, and nobody else knows which.
  embedding('64:ff9b:1::', 48, [
    [12, 13, 14, 15],
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
  ]),
  embedding('2002::', 16, [[2, 3, 4, 5]]), // 6to4
];

const refusedV4 = blockListOf(REFUSED_V4, 'ipv4');
const refusedV6 = blockListOf(REFUSED_V6, 'ipv6');

/**
 * Tells whether an address is one of the public internet.
 *
 * An IPv6 address that stands for an IPv4 address (mapped, compatible, NAT64, 6to4) is judged by that one. Every other
 * address of a special-purpose block is not public, nor is one with a zone, nor a text that is no address.
 *
 * @param ip An address as Node writes it: `192.0.2.1`, `2001:db8::1`, without brackets.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isPublicAddress(ip: string): boolean {
  // A zone names an interface of this machine.
  if (ip.includes('%')) return false;
  const family = isIP(ip);
  if (family === 4) return !refusedV4.check(ip, 'ipv4');
  if (family !== 6) return false;
  const embedding = EMBEDDINGS.find(({ block }) => block.check(ip, 'ipv6'));
  if (embedding === undefined) return !refusedV6.check(ip, 'ipv6');
  const bytes = bytesOf(ip);
  const [address, ...others] = embedding.readings.map((reading) => reading.map((index) => bytes[index]).join('.'));
  // A reading that begins with 0 leads nowhere; it is what the other lengths see in an ordinary address.
  return [address, ...others.filter((other) => !other.startsWith('0.'))].every(
    (embedded) => embedded !== undefined && !refusedV4.check(embedded, 'ipv4'),
  );
}

/** The sixteen bytes of an IPv6 address. */
function bytesOf(ip: string): readonly number[] {
  // The URL parser writes every form in one: hexadecimal groups, at most one `::`.
  const canonical = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [head = [], tail] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...(tail ?? [])].flatMap((group) => {
    const value = parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function embedding(prefix: string, length: number, readings: readonly (readonly number[])[]) {
  return { block: blockListOf([[prefix, length]], 'ipv6'), readings };
}

function blockListOf(subnets: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, length] of subnets) list.addSubnet(network, length, family);
  return list;
}
