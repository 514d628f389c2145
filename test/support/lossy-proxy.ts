/** Loses replies of Redis on their way to a client. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { until } from './redis.js';

/** A proxy of Redis that can close a connection instead of passing on the next reply. */
export class LossyProxy {
  readonly #server: Server;
  #cuts = 0;

  constructor(port: number) {
    this.#server = createServer((client) => {
      const redis = connect(port, '127.0.0.1');
      client.pipe(redis);
      redis.on('data', (reply) => this.#pass(reply, client));
      for (const [one, other] of [
        [client, redis],
        [redis, client],
      ]) {
        one.on('error', () => {});
        one.on('close', () => other.destroy());
      }
    }).listen(0, '127.0.0.1');
  }

  #pass(reply: Buffer, client: Socket): void {
    if (this.#cuts === 0) client.write(reply);
    else {
      this.#cuts--;
      client.destroy();
    }
  }

  /** Loses the next reply. */
  cut(): void {
    this.#cuts++;
  }

  /** Waits until each call of `cut` has lost a reply. */
  whenCut = (): Promise<void> => until(() => this.#cuts === 0, 1);

  /** Opens a client that is connected through the proxy. Both close after the test. */
  async client(): Promise<Redis> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 1, maxRetriesPerRequest: null });
    onTestFinished(() => {
      redis.disconnect();
      this.#server.close();
    });
    await redis.ping();
    return redis;
  }
}
