/** The options that say how to reach the queue. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type QueueAddress, withRedis } from '../../server/queue/connection.js';
import type { Queue, Release } from '../../server/queue/jobs.js';
import { packageVersion } from '../../shared/version.js';
import { createWorld } from '../../world/world.js';
import { UsageError } from '../command-errors.js';

/** The options of all queue commands, which say how to reach the queue. */
export interface QueueOptions {
  readonly redis?: string;
  readonly redisCa?: string;
  readonly prefix: string;
  readonly allowDataLoss?: boolean;
}

/** Adds the options that say how to reach the queue. */
export const addQueueOptions = (command: Command): Command =>
  command
    .option(
      '--redis <url>',
      'redis://[:password@]host:port, or rediss:// for TLS (default: the URL in REDIS_URL)',
    )
    .option('--redis-ca <file>', 'the PEM certificate of the authority that signed the certificate of Redis')
    .option(
      '--prefix <name>',
      'the beginning of all keys in Redis, for a cluster with a hash tag; each prefix is a queue',
      'rhythm-vec',
    )
    .option(
      '--allow-data-loss',
      'accept a Redis that drops keys when it is full, or that writes no append-only file',
    );

/**
 * Returns the address of the queue. REDIS_URL is the default of --redis, and REDIS_PASSWORD the password of a URL without one.
 * @throws UsageError without a URL, or for an invalid prefix; Error if the file of --redis-ca cannot be read.
 */
export function addressOf({ redis, redisCa, prefix, allowDataLoss }: QueueOptions): QueueAddress {
  const { REDIS_URL, REDIS_PASSWORD } = process.env;
  const url = redis ?? (REDIS_URL || undefined);
  if (url === undefined) {
    throw new UsageError(
      'Expected the URL of Redis in --redis or REDIS_URL, got none. Pass a URL such as redis://127.0.0.1:6379.',
    );
  }
  if (!/^(?=.{1,64}$)[\w.-]*(\{[\w.-]+\})?[\w.-]*$/.test(prefix)) {
    throw new UsageError(
      `Expected --prefix to be 1 to 64 letters, digits, dots, dashes and underscores, some of them in braces for a Redis Cluster, got ${JSON.stringify(prefix)}. Pass another prefix.`,
    );
  }
  return {
    url,
    prefix,
    ...(REDIS_PASSWORD ? { password: REDIS_PASSWORD } : {}),
    ...(redisCa === undefined ? {} : { ca: readFileSync(redisCa, 'utf8') }),
    ...(allowDataLoss ? { allowDataLoss } : {}),
  };
}

/** Opens a queue, uses it and closes it. @throws as `addressOf`, `withRedis` and `use`. */
export function withQueue<Answer>(
  options: QueueOptions,
  use: (queue: Queue) => Promise<Answer>,
): Promise<Answer> {
  const address = addressOf(options);
  return withRedis(address, (redis) => use({ redis, prefix: address.prefix }));
}

/** Refuses a number out of range. @throws UsageError. */
export function checkRange(option: string, value: number, low: number, high: number): void {
  if (value >= low && value <= high) return;
  throw new UsageError(
    `Expected ${option} to be from ${low} to ${high}, got ${value}. Pass a number in that range.`,
  );
}

/** Returns the version and the world's digest of this program. */
export const releaseHere = (): Release => ({ version: packageVersion(), world: createWorld().digest });
