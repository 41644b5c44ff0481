import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { TLS_IDENTITY } from './tls-identity.js';

/** A server that notes who connects to it and what arrives. */
export interface Receiver {
  readonly port: number;
  /** Whether a connection was ever made, and how many. */
  readonly connections: number;
  /** The connections that are open now. */
  readonly open: number;
  /** The bytes that came in over all connections, of TLS as well. */
  readonly bytesReceived: number;
  readonly close: () => Promise<void>;
}

/** Starts an HTTP server. @param host The address it listens at. */
export async function startReceiver(answer: RequestListener, host = '127.0.0.1'): Promise<Receiver> {
  return listen(createHttpServer(answer), host);
}

/** Starts an HTTPS server with the {@link TLS_IDENTITY}. */
export async function startSecureReceiver(answer: RequestListener): Promise<Receiver> {
  return listen(createHttpsServer({ ...TLS_IDENTITY }, answer), '127.0.0.1');
}

/** Starts a server that speaks as its listener does, or not at all. */
export async function startRawReceiver(speak: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    createTcpServer((socket) => {
      speak(socket);
      // The end of a connection is seen only behind all that was read.
      socket.resume();
    }),
    '127.0.0.1',
  );
}

async function listen(server: Server, host: string): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytesOfClosed = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      bytesOfClosed += socket.bytesRead;
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get bytesReceived() {
      return [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, bytesOfClosed);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
