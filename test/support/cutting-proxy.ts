import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** When the proxy cuts a connection on which a marked request came. */
export type Cut = 'before' | 'after' | 'never';

/** A TCP proxy that can cut connections around a request. */
export interface CuttingProxy {
  readonly port: number;
  /** `before`: the next marked request never arrives; `after`: it arrives, and its answer is lost. Once. */
  readonly cutNext: (cut: Cut) => void;
  /** How often it has cut. */
  readonly cuts: () => number;
  readonly close: () => Promise<void>;
}

/**
 * Starts a proxy on a free port of the loopback address.
 *
 * @param target the port that it leads to
 * @param mark what a request contains on which it may cut
 */
export async function startCuttingProxy(target: number, mark: string): Promise<CuttingProxy> {
  let next: Cut = 'never';
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let losesAnswer = false;
    const cut = (): void => {
      cuts++;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (data) => {
      const chosen = data.includes(mark) ? next : 'never';
      if (chosen !== 'never') next = 'never';
      if (chosen === 'before') {
        cut();
        return;
      }
      losesAnswer ||= chosen === 'after';
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      // The whole answer is in: the write has been committed.
      if (losesAnswer) cut();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (cut) => {
      next = cut;
    },
    cuts: () => cuts,
    close: async () => {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
