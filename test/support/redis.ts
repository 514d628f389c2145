/** Starts real Redis servers, each on a free loopback port with an append-only file in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe } from 'vitest';
import { isRequired } from './required.js';

const { error, stdout = '' } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
const absent = error === undefined && stdout.includes('Redis') ? null : 'redis-server is not installed';
if (absent !== null && isRequired('redis')) throw new Error(`RHYTHM_REQUIRE names redis, but ${absent}.`);

/**
 * Describes tests with a server of their own. Without redis-server they are skipped, and their name says so.
 * @param settings as of `RedisServer`.
 */
export function describeWithRedis(
  name: string,
  tests: (server: RedisServer) => void,
  ...settings: readonly string[]
): void {
  describe.skipIf(absent !== null)(absent === null ? name : `${name} (skipped: ${absent})`, () => {
    const server = new RedisServer(settings);
    beforeAll(() => server.restart());
    afterAll(() => server.close());
    tests(server);
  });
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}

/** Returns a free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Settings of a server that writes each change to disk before it answers. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

export class RedisServer {
  /** 0 before the first start. */
  port = 0;
  folder = '';
  readonly #settings: readonly string[];
  #process!: ChildProcess;

  /** @param settings options of redis-server, after those of `DURABLE`. */
  constructor(settings: readonly string[] = []) {
    this.#settings = settings;
  }

  /** Starts a server. @param settings as of the constructor. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(settings);
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The environment variables with which a command uses this server. */
  get environment(): { readonly REDIS_URL: string } {
    return { REDIS_URL: this.url };
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Starts the server, or starts it again on the same files, and waits until it answers. */
  async restart(): Promise<void> {
    if (this.port === 0) {
      this.port = await freePort();
      this.folder = mkdtempSync(join(tmpdir(), 'rhythm-redis-'));
    }
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    // Without the trap, a write above the limit of `limitFiles` would end the server.
    const start = `trap '' XFSZ; exec redis-server "$@"`;
    const args = ['-c', start, 'redis', ...own, ...DURABLE, ...this.#settings];
    this.#process = spawn('bash', args, { stdio: 'ignore' });
    const client = this.client();
    // A server with a password answers NOAUTH.
    await until(() => client.ping().then(Boolean, (reply: Error) => /NOAUTH/.test(reply.message)));
    client.disconnect();
  }

  /** Limits the size of the server's files from now on: writes beyond it fail, as on a full disk. */
  limitFiles(bytes: number | 'unlimited'): void {
    const { status, stderr } = spawnSync('prlimit', ['--pid', String(this.pid), `--fsize=${bytes}:`]);
    if (status !== 0) throw new Error(`prlimit: ${stderr}`);
  }

  /** The size in bytes of the largest part of the append-only file. */
  get fileSize(): number {
    const folder = join(this.folder, 'appendonlydir');
    return Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
  }

  /** Opens a connection. The caller closes it. */
  client(): Redis {
    const client = new Redis(this.port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null });
    // Without a listener, ioredis prints each failed attempt to connect.
    return client.on('error', () => {});
  }

  /** Kills the server before it can write anything more. */
  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  /** Ends the server and removes its files. */
  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
