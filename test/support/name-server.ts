import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name server says of a type of record: addresses as bytes, an error code (3: no such name), or nothing at all. */
export type NameAnswer = readonly (readonly number[])[] | number | undefined;

/** A name server that says the same of every name. */
export interface NameServer {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  readonly close: () => void;
}

const HEADER_BYTES = 12;
const TYPE_AAAA = 28;

/** Starts a name server. @param answers What it says of IPv4 and of IPv6 addresses. */
export async function startNameServer(answers: {
  readonly v4: NameAnswer;
  readonly v6: NameAnswer;
}): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    // The name ends with an empty label; type and class follow.
    const end = query.indexOf(0, HEADER_BYTES) + 5;
    const type = query.readUInt16BE(end - 4);
    const answer = type === TYPE_AAAA ? answers.v6 : answers.v4;
    if (answer !== undefined) socket.send(reply(query.subarray(0, end), type, answer), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => {
      socket.close();
    },
  };
}

function reply(question: Buffer, type: number, answer: readonly (readonly number[])[] | number): Buffer {
  const addresses = typeof answer === 'number' ? [] : answer;
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 + (typeof answer === 'number' ? answer : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 10);
  // A pointer to the name, type, class, 60 seconds, length, address.
  const records = addresses.map((bytes) =>
    Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([head, ...records]);
}
