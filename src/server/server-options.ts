/** Options of a server, and their validation. */

import { BlockList, isIP } from 'node:net';
import type { KernelName, SyncBackendName } from '../engine/backends/backend.js';
import { InputError } from '../shared/errors.js';
import { checkInteger, checkString, readOptions, toFlag } from '../shared/values.js';

/** Options of `openServer`. */
export interface ServeOptions {
  /** The address to listen on. Default 127.0.0.1, which only this machine can reach. */
  readonly host?: string;
  /** The port. Default 8000, as in OpenEnv; 0 chooses a free port. */
  readonly port?: number;
  /**
   * The token of `Authorization: Bearer`: 16 to 4096 printable ASCII characters without spaces. Required on addresses that
   * other machines can reach, unless `insecure`. Default: none.
   */
  readonly token?: string;
  /** Listens without a token on addresses that other machines can reach, and accepts any `Host`. Default: false. */
  readonly insecure?: boolean;
  /** Maximum number of sessions at a time, 1 to 65,536. Default 4096. */
  readonly capacity?: number;
  /** Maximum size of a request body in bytes, 1024 to 2^29; JSON has at most 2^23 (8 MiB). Default 2^26 (64 MiB). */
  readonly bodyLimit?: number;
  /** Maximum size in bytes of OpenEnv's frames and request bodies, 1024 to 2^23. Default 2^20 (1 MiB). */
  readonly frameLimit?: number;
  /** Maximum number of environments in all vector environments together, 1 to 2^24. Default 2^18. */
  readonly vecEnvs?: number;
  /** Maximum number of /v1 requests at a time, 1 to 1024; further requests wait. Default 8. */
  readonly batchRequests?: number;
  /** Maximum number of /v1 requests that wait, 0 to 65,536; further requests get status 503. Default 1024. */
  readonly batchQueue?: number;
  /** Milliseconds that a /v1 request may wait before it gets status 503, 10 to 240,000. Default 60,000. */
  readonly batchWaitMs?: number;
  /** Milliseconds between two pings, 10 to 2^31 - 1; `idleMs` if that is less. Default 30,000. */
  readonly pingMs?: number;
  /** Milliseconds without a frame before a socket is closed, 10 to 2^31 - 1. Default 900,000. */
  readonly idleMs?: number;
  /** As in `createVecEnv`. */
  readonly backend?: SyncBackendName;
  /** As in `createVecEnv`. */
  readonly kernel?: KernelName;
  /**
   * The number of threads of rollouts, vector environments and sessions, 1 to 256. Default: the number of processor cores; 1
   * for the sessions of `openServer`. `openCluster` divides the number among its workers.
   */
  readonly threads?: number;
  /** Receives unexpected errors. Default: prints them to the standard error. */
  readonly onFailure?: (error: unknown) => void;
}

type Optional = 'token' | 'backend' | 'kernel' | 'threads';
/** Validated options, with the defaults of all but `Optional`. */
export type Settings = Readonly<Required<Omit<ServeOptions, Optional>> & Pick<ServeOptions, Optional>>;

const MIB = 2 ** 20;
/** The maximum delay of a timer in milliseconds. */
const MAX_MS = 2 ** 31 - 1;
/** By option: default, minimum and maximum. */
const NUMBERS = {
  port: [8000, 0, 65535],
  capacity: [4096, 1, 2 ** 16],
  bodyLimit: [64 * MIB, 1024, 512 * MIB],
  frameLimit: [MIB, 1024, 8 * MIB],
  vecEnvs: [2 ** 18, 1, 2 ** 24],
  batchRequests: [8, 1, 1024],
  batchQueue: [1024, 0, 2 ** 16],
  // The maximum is less than BODY_MS (build-server.ts), within which the whole body must arrive: a large body may wait for memory.
  batchWaitMs: [60_000, 10, 240_000],
  pingMs: [30_000, 10, MAX_MS],
  idleMs: [900_000, 10, MAX_MS],
} as const satisfies Partial<Record<keyof ServeOptions, readonly [number, number, number]>>;

type NumberName = keyof typeof NUMBERS;
const NAMES: readonly (keyof ServeOptions)[] = [
  ...(Object.keys(NUMBERS) as NumberName[]),
  ...(['host', 'token', 'insecure', 'backend', 'kernel', 'threads', 'onFailure'] as const),
];
/** The defaults of the numeric options. */
export const DEFAULTS = Object.fromEntries(
  Object.entries(NUMBERS).map(([name, [defaultValue]]) => [name, defaultValue]),
) as Record<NumberName, number>;

/** The minimum and maximum length of a token: long enough not to be guessed, and short enough for a request header. */
const [MIN_TOKEN, MAX_TOKEN] = [16, 4096];

/** Validates options and adds the defaults. @throws InputError. */
export function toServeSettings(options: ServeOptions): Settings {
  const values = readOptions('serve options', options, NAMES);
  const numbers = Object.entries(NUMBERS).map(([name, [defaultValue, low, high]]) => [
    name,
    checkInteger(name, values[name as NumberName] ?? defaultValue, low, high),
  ]);
  const host = checkString('host', values.host ?? '127.0.0.1');
  const { backend, kernel, threads, onFailure = toStandardError } = values;
  const token = checkToken(values.token);
  const insecure = toFlag('insecure', values.insecure);
  if (token === undefined && !insecure && !isLoopback(host)) throw missingToken(host);
  return {
    ...Object.fromEntries(numbers),
    host,
    token,
    insecure,
    backend,
    kernel,
    threads,
    onFailure,
  } as Settings;
}

function checkToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const text = checkString('token', token);
  const fits = text.length >= MIN_TOKEN && text.length <= MAX_TOKEN;
  const isPrintable = /^[\x21-\x7e]*$/.test(text);
  if (fits && isPrintable) return text;
  // The message does not repeat the token.
  throw new InputError('out_of_range', {
    expected: `a token of ${MIN_TOKEN} to ${MAX_TOKEN} printable ASCII characters without spaces`,
    got: `${text.length} characters${isPrintable ? '' : ', some of them not allowed'}`,
    remedy: 'Make one with: openssl rand -hex 32',
  });
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Returns whether a host is this machine: an address of 127.0.0.0/8 (also as `::ffff:127.0.0.1`) or `::1`, which may have
 * brackets; or `localhost` or a name under it (RFC 6761), in upper or lower case, which may end with a dot.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(address);
  if (version === 0) return /^([^.]+\.)*localhost\.?$/i.test(host);
  return LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

const missingToken = (host: string): InputError =>
  new InputError('unknown_option', {
    expected: `a token for ${host}, which other machines may reach`,
    got: 'none',
    remedy: 'Set RHYTHM_TOKEN, or pass --token-file, or --insecure to admit every client.',
  });

function toStandardError(error: unknown): void {
  process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
}
