/** Connects to Redis, refuses a server that is too old or would lose data, and repeats commands that fail temporarily. */
import type { Redis, RedisOptions } from 'ioredis';
import { RhythmError } from '../../shared/errors.js';
import { backOff, CLOCK, retry } from '../../shared/http/retry.js';
import { importOptional, load, PACKAGES } from '../../shared/optional-packages.js';

/** The errors of a queue, such as a Redis that cannot be reached, or failed shards. Their messages contain no password. */
export class QueueError extends RhythmError {
  constructor(message: string) {
    super('queue_failed', message);
  }
}

/** The address of a queue. */
export interface QueueAddress {
  /** redis://[user:password@]host[:port][/database], or rediss:// for TLS. */
  readonly url: string;
  /** The password, unless the URL has one. */
  readonly password?: string;
  /**
   * The certificate of the authority that signed the server's certificate, as PEM. Default: the authorities that Node trusts.
   */
  readonly ca?: string;
  /** The beginning of all keys. Each prefix is a queue of its own. */
  readonly prefix: string;
  /** Whether settings of Redis that may lose data are accepted. */
  readonly allowDataLoss?: boolean;
}

type Libraries = { readonly bullmq: typeof import('bullmq'); readonly ioredis: typeof import('ioredis') };

/** Loads the packages of the queue. @throws LibraryError `library_missing`. */
export const loadQueues = (): Promise<Libraries> =>
  load('queues', PACKAGES.queues, async () => ({
    bullmq: await importOptional<Libraries['bullmq']>('bullmq'),
    ioredis: await importOptional<Libraries['ioredis']>('ioredis'),
  }));

/** Milliseconds that an attempt to connect may take. Chosen by hand: a longer limit reports a missing server later. */
const CONNECT_MS = 5000;
/**
 * Milliseconds before a lost connection is opened again: the first wait, and the longest. Chosen by hand: shorter waits make
 * more attempts.
 */
const RECONNECT = { first: 50, last: 1000 };

/**
 * Opens a connection that reconnects when it is lost. Commands wait until it is open again.
 * @throws QueueError if the server cannot be used; LibraryError `library_missing`.
 */
export async function connect(address: QueueAddress): Promise<Redis> {
  const { ioredis } = await loadQueues();
  const options = optionsOf(address);
  const url = withPassword(address);
  await check(new ioredis.Redis(url, { ...options, retryStrategy: () => null }), address);
  const redis = new ioredis.Redis(url, {
    ...options,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(RECONNECT.last, RECONNECT.first * attempt),
  });
  // Without a listener, ioredis prints each failed attempt to reconnect.
  redis.on('error', () => {});
  await redis.connect();
  return redis;
}

/** Opens a connection as `connect`, uses it and closes it. @throws as `connect` and `use`; QueueError for a refused command. */
export async function withRedis<Answer>(
  address: QueueAddress,
  use: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = await connect(address);
  try {
    return await use(redis);
  } catch (error) {
    throw refusalOf(error as Error, address) ?? error;
  } finally {
    redis.disconnect();
  }
}

/** Returns the error for a command that Redis refuses because of its access rules, or as a node of a cluster; else null. */
function refusalOf({ message }: Error, { url, prefix }: QueueAddress): QueueError | null {
  const host = hostOf(url);
  // Before 7.0, Redis puts a prefix before the error of a command in a script.
  const [, code, details] = /(?:^|-)(NOPERM|MOVED) (.*)/.exec(message) ?? [];
  if (code === 'NOPERM') {
    return new QueueError(
      `Expected Redis at ${host} to permit what the queue "${prefix}" needs, got: NOPERM ${details}. Allow the user its keys and ` +
        `commands: redis-cli ACL SETUSER NAME "~${prefix}:*" +@all -@admin -@dangerous +info`,
    );
  }
  if (code === 'MOVED') {
    const node = details.split(' ')[1];
    return new QueueError(
      `Expected ${host} to be the node of the cluster that has the queue "${prefix}", got the answer that it is ${node}. ` +
        'Pass that node in --redis.',
    );
  }
  return null;
}

/** Returns the options of ioredis. @throws QueueError for a URL that is not a URL of Redis. */
function optionsOf({ url, ca }: QueueAddress): RedisOptions {
  // These characters end the user and password of a URL.
  const [, character] =
    /^rediss?:\/\/[^/?#]*([/?#]).*@/.exec(url) ?? /^rediss?:\/\/.*(%)(?![\da-f]{2}).*@/i.exec(url) ?? [];
  if (character !== undefined) {
    throw new QueueError(
      `Expected the URL of Redis with a percent-encoded user and password, got ${character} before the @. ` +
        `Write ${character} as ${encodeURIComponent(character)}, or pass the password in REDIS_PASSWORD instead.`,
    );
  }
  if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new QueueError(
      `Expected the URL of Redis as redis://host:port, got ${JSON.stringify(withoutSecret(url))}. Pass --redis, or set REDIS_URL.`,
    );
  }
  return {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    ...(ca === undefined ? {} : { tls: { ca } }),
  };
}

/**
 * Returns the URL with the password. ioredis would prefer the empty password of redis://user@host to a password in its
 * options.
 */
function withPassword({ url, password }: QueueAddress): string {
  const parsed = new URL(url);
  if (password === undefined || parsed.password !== '') return url;
  parsed.password = encodeURIComponent(password);
  return parsed.href;
}

/** Returns the host and port of a URL, without user and password. */
const hostOf = (url: string): string => new URL(url).host;
const withoutSecret = (url: string): string => url.replace(/\/\/.*@/, '//');

/** Opens a connection, checks the server, and closes the connection. @throws QueueError. */
async function check(redis: Redis, address: QueueAddress): Promise<void> {
  const failures: Error[] = [];
  redis.on('error', (error) => failures.push(error));
  try {
    await redis.connect();
    // If the server demands a password and none was given, the connection opens and the first command fails.
    checkServer(await redis.info(), address);
    // Fails if the user may not use the keys or scripts, or if another node of a cluster has the keys.
    await redis.eval("return redis.call('EXISTS', KEYS[1])", 1, `${address.prefix}:jobs`);
  } catch (error) {
    if (error instanceof QueueError) throw error;
    throw refusalOf(error as Error, address) ?? unreachable(failures[0] ?? (error as Error), address);
  } finally {
    redis.disconnect();
  }
}

/** Node's codes for a certificate that it does not accept. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/;

function unreachable(error: Error, { url }: QueueAddress): QueueError {
  const { message } = error;
  const host = hostOf(url);
  if (CERTIFICATE.test(String((error as NodeJS.ErrnoException).code))) {
    return new QueueError(
      `Expected the certificate of Redis at ${host} to be signed by a known authority for this host, got: ${message}. Pass the authority's certificate in --redis-ca.`,
    );
  }
  if (/^(NOAUTH|WRONGPASS|ERR invalid password|ERR AUTH)/.test(message)) {
    return new QueueError(
      `Expected Redis at ${host} to accept the password, got: ${message} Pass the password in REDIS_URL (redis://:PASSWORD@${host}) or REDIS_PASSWORD.`,
    );
  }
  return new QueueError(
    `Expected Redis at ${host}, got: ${message || 'no connection'}. Start redis-server there, or pass another --redis.`,
  );
}

/** The oldest version of Redis that BullMQ recommends. */
const OLDEST = [6, 2] as const;

function checkServer(info: string, { url, prefix, allowDataLoss = false }: QueueAddress): void {
  const host = hostOf(url);
  const setting = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = setting('redis_version') ?? 'unknown';
  const [major, minor] = version.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new QueueError(
      `Expected Redis ${OLDEST.join('.')} or later at ${host}, got ${version}. Install a newer Redis, or Valkey.`,
    );
  }
  if (setting('cluster_enabled') === '1' && !prefix.includes('{')) {
    throw new QueueError(
      `Expected a prefix with a hash tag for the Redis Cluster at ${host}, got "${prefix}". Pass --prefix "{${prefix}}": a cluster then has ` +
        'all keys of the queue on one node.',
    );
  }
  if (allowDataLoss) return;
  const policy = setting('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    throw new QueueError(
      `Expected the maxmemory-policy of Redis at ${host} to be noeviction, got ${policy}: a full Redis would drop shards. ` +
        'Run "redis-cli config set maxmemory-policy noeviction", or pass --allow-data-loss.',
    );
  }
  if (setting('aof_enabled') === '0') {
    throw new QueueError(
      `Expected an append-only file of Redis at ${host}, got none: a restart would lose jobs and results. ` +
        'Run "redis-cli config set appendonly yes", or pass --allow-data-loss.',
    );
  }
}

/** The beginnings of the messages of temporary errors: of Redis, and of ioredis for lost connections. */
const TEMPORARY =
  /^(MISCONF|OOM|LOADING|READONLY|TRYAGAIN|MASTERDOWN|BUSY|Connection is closed|Stream isn't writeable|ERR Error writing)/;
/** The prefix that Redis 6 puts before the error of a command in a script. */
const OF_SCRIPT = /^ERR Error running script .*?: -/;
/** The system's codes for a lost or refused connection. */
const CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * Milliseconds between attempts. The waits are short, so that paid episodes are stored before another worker takes their shard
 * over.
 */
const WAITS = { first: 50, last: 250 };

/** Returns whether an error of Redis is temporary. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof Error &&
  (TEMPORARY.test(error.message.replace(OF_SCRIPT, '')) ||
    CODES.includes(String((error as NodeJS.ErrnoException).code)));

/**
 * Repeats a command until Redis accepts it.
 * @param signal stops the repetition. Default: it never stops. @param onWait called with the error before each wait.
 * @throws errors that are not temporary; the signal's reason.
 */
export const untilAccepted = <Answer>(
  command: () => Promise<Answer>,
  signal: AbortSignal = new AbortController().signal,
  onWait: (error: Error) => void = () => {},
): Promise<Answer> =>
  retry(command, {
    retries: Number.POSITIVE_INFINITY,
    signal,
    clock: CLOCK,
    waitAfter: ({ error, attempt }) => {
      if (!isTemporary(error)) return null;
      onWait(error);
      return backOff(WAITS, attempt);
    },
  });
