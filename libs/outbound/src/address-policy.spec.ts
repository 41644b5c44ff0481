import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPublicAddress } from './address-policy.js';

/** A block, and what lies just before and just after it when that is public. */
interface Block {
  readonly network: string;
  readonly length: number;
  readonly neighbours: readonly string[];
}

const V4_BLOCKS: readonly Block[] = [
  { network: '0.0.0.0', length: 8, neighbours: ['1.0.0.0'] },
  { network: '10.0.0.0', length: 8, neighbours: ['9.255.255.255', '11.0.0.0'] },
  { network: '100.64.0.0', length: 10, neighbours: ['100.63.255.255', '100.128.0.0'] },
  { network: '127.0.0.0', length: 8, neighbours: ['126.255.255.255', '128.0.0.0'] },
  { network: '168.63.129.16', length: 32, neighbours: ['168.63.129.15', '168.63.129.17'] },
  { network: '169.254.0.0', length: 16, neighbours: ['169.253.255.255', '169.255.0.0'] },
  { network: '172.16.0.0', length: 12, neighbours: ['172.15.255.255', '172.32.0.0'] },
  { network: '192.0.0.0', length: 24, neighbours: ['191.255.255.255', '192.0.1.0'] },
  { network: '192.0.2.0', length: 24, neighbours: ['192.0.1.255', '192.0.3.0'] },
  { network: '192.31.196.0', length: 24, neighbours: ['192.31.195.255', '192.31.197.0'] },
  { network: '192.52.193.0', length: 24, neighbours: ['192.52.192.255', '192.52.194.0'] },
  { network: '192.88.99.0', length: 24, neighbours: ['192.88.98.255', '192.88.100.0'] },
  { network: '192.168.0.0', length: 16, neighbours: ['192.167.255.255', '192.169.0.0'] },
  { network: '192.175.48.0', length: 24, neighbours: ['192.175.47.255', '192.175.49.0'] },
  { network: '198.18.0.0', length: 15, neighbours: ['198.17.255.255', '198.20.0.0'] },
  { network: '198.51.100.0', length: 24, neighbours: ['198.51.99.255', '198.51.101.0'] },
  { network: '203.0.113.0', length: 24, neighbours: ['203.0.112.255', '203.0.114.0'] },
  { network: '224.0.0.0', length: 4, neighbours: ['223.255.255.255'] },
  { network: '240.0.0.0', length: 4, neighbours: [] },
];

const V6_BLOCKS: readonly Block[] = [
  { network: '100::', length: 64, neighbours: [] },
  { network: '2001::', length: 32, neighbours: ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff'] },
  { network: '2001::', length: 23, neighbours: ['2001:200::'] },
  {
    network: '2001:db8::',
    length: 32,
    neighbours: ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  },
  {
    network: '2620:4f:8000::',
    length: 48,
    neighbours: ['2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  },
  { network: '3fff::', length: 20, neighbours: ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'] },
  { network: '4000::', length: 2, neighbours: [] },
  { network: '5f00::', length: 16, neighbours: [] },
  { network: '8000::', length: 1, neighbours: [] },
  { network: 'fc00::', length: 7, neighbours: [] },
  { network: 'fe80::', length: 10, neighbours: [] },
  { network: 'fec0::', length: 10, neighbours: [] },
  { network: 'ff00::', length: 8, neighbours: [] },
];

/** How an IPv4 address is written into an IPv6 one. */
const EMBEDDINGS: Readonly<Record<string, (ip: string) => string>> = {
  'IPv4-mapped': (ip) => `::ffff:${ip}`,
  'IPv4-mapped, hexadecimal': (ip) => `::ffff:${groupsOf(ip)}`,
  'IPv4-mapped, long': (ip) => `0:0:0:0:0:FFFF:${groupsOf(ip)}`,
  'IPv4-compatible': (ip) => `::${ip}`,
  NAT64: (ip) => `64:ff9b::${ip}`,
  'local NAT64': (ip) => `64:ff9b:1::${ip}`,
  '6to4': (ip) => `2002:${groupsOf(ip)}::1`,
  '6to4, with a subnet': (ip) => `2002:${groupsOf(ip)}:8080:1:2:3:4`,
};

describe('The address policy', () => {
  it.each(V4_BLOCKS)('refuses every address of $network/$length (SSRF-02b, CONF-44)', ({ network, length }) => {
    fc.assert(fc.property(within(numberOf4(network), length, 32), (value) => !isPublicAddress(textOf4(value))));
  });

  it.each(V6_BLOCKS)('refuses every address of $network/$length (SSRF-02b, CONF-44)', ({ network, length }) => {
    fc.assert(fc.property(within(numberOf6(network), length, 128), (value) => !isPublicAddress(textOf6(value))));
  });

  it.each([...V4_BLOCKS, ...V6_BLOCKS].flatMap(({ neighbours }) => neighbours))('accepts %s beside a block', (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  it('accepts every IPv4 address outside all blocks', () => {
    const blocks = V4_BLOCKS.map(({ network, length }) => [numberOf4(network), length] as const);
    const outside = (value: bigint): boolean =>
      blocks.every(([start, length]) => value >> BigInt(32 - length) !== start >> BigInt(32 - length));
    const anywhere = within(0n, 0, 32).filter(outside);
    fc.assert(fc.property(anywhere, (value) => isPublicAddress(textOf4(value))));
  });

  it.each(Object.entries(EMBEDDINGS))('judges an %s address by the IPv4 address within (SSRF-03)', (_name, embed) => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(isPublicAddress(embed(ip))).toBe(isPublicAddress(ip));
      }),
    );
    for (const { network, length } of V4_BLOCKS) {
      fc.assert(
        fc.property(within(numberOf4(network), length, 32), (value) => !isPublicAddress(embed(textOf4(value)))),
        { numRuns: 20 },
      );
    }
  });

  it('refuses a local NAT64 address that any length of prefix reads as an internal one (SSRF-03)', () => {
    const internal = fc.constantFrom(...V4_BLOCKS.filter(({ network }) => !network.startsWith('0.')));
    const layouts = [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ];
    fc.assert(
      fc.property(
        internal,
        fc.constantFrom(...layouts),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        (block, layout, noise) => {
          const bytes = [0x00, 0x64, 0xff, 0x9b, 0x00, 0x01, ...noise.slice(6)];
          const embedded = block.network.split('.').map(Number);
          layout.forEach((place, index) => (bytes[place] = embedded[index]!));
          return !isPublicAddress(
            textOf6(BigInt(`0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`)),
          );
        },
      ),
    );
  });

  it.each(['::', '::1', '64:ff9b:2::1', '::ffff:0:8.8.8.8', '2001:0:808:808::1', 'fd00:ec2::254', '100.100.100.200'])(
    'refuses %s (SSRF-02)',
    (ip) => {
      expect(isPublicAddress(ip)).toBe(false);
    },
  );

  it.each(['fe80::1%eth0', '2606:4700:4700::1111%eth0', '::1%lo'])('refuses the zone of %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each([
    '',
    'example.com',
    '8.8.8',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '[::ffff:8.8.8.8]',
    '8.8.8.8 ',
    '8.8.8.8/32',
  ])('refuses %j, which is no address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2001:4860:4860::8888', '2A00:1450:4001:800::200E'])(
    'accepts %s',
    (ip) => {
      expect(isPublicAddress(ip)).toBe(true);
    },
  );
});

/** Any address of a block, its first and last ones often. */
function within(network: bigint, length: number, bits: number): fc.Arbitrary<bigint> {
  const size = 1n << BigInt(bits - length);
  const start = (network / size) * size;
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(start, start + size - 1n) },
    { weight: 5, arbitrary: fc.bigInt({ min: start, max: start + size - 1n }) },
  );
}

function numberOf4(ip: string): bigint {
  return ip.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function textOf4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
}

/** Reads the short forms that the table has: groups, then `::`. */
function numberOf6(ip: string): bigint {
  const groups = ip.split(':').filter((group) => group !== '');
  return Array.from({ length: 8 }, (_, index) => BigInt(`0x${groups[index] ?? '0'}`)).reduce(
    (value, group) => value * 65_536n + group,
    0n,
  );
}

function textOf6(value: bigint): string {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(
    ':',
  );
}

function groupsOf(ip: string): string {
  const value = numberOf4(ip);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
