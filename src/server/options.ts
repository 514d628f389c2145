/** How a server is opened, and what is refused before it is. */
import { isIPv4 } from 'node:net';
import { InputError } from '../errors.js';
import { checkInteger, checkString, readOptions, toFlag } from '../validate/values.js';

export interface ServeOptions {
  /** Address to listen on. Default 127.0.0.1: this machine alone. */
  readonly host?: string;
  /** Default 8000, OpenEnv's; 0 takes one that is free. */
  readonly port?: number;
  /** What `Authorization: Bearer` must say. Needed on addresses that others reach, or `insecure`. Default: none. */
  readonly token?: string;
  /** Listens where others reach it without a token. */
  readonly insecure?: boolean;
  /** Sessions at a time, at most 65,536. Default 4096. */
  readonly capacity?: number;
  /** Bytes of a request's body. Default 64 MiB. */
  readonly bodyLimit?: number;
  /** Bytes of a session's frame. Default 1 MiB. */
  readonly frameLimit?: number;
  /** Slots of all vector environments together. Default 2^18. */
  readonly vecSlots?: number;
  /** Requests of /v1 at a time; more are told to come back. Default 8. */
  readonly batchRequests?: number;
  /** Milliseconds between two pings. Default 30,000. */
  readonly pingMs?: number;
  /** Milliseconds without a frame after which a session is closed. Default 900,000. */
  readonly idleMs?: number;
  /** As of `createVecEnv`. */
  readonly backend?: string;
  readonly kernel?: string;
  /** 1 to 256: of batch requests and vector environments. Default: as many as the machine offers. */
  readonly threads?: number;
  /** Told of errors that nobody foresaw. Default: they go to the standard error. */
  readonly onFailure?: (error: unknown) => void;
}

const NAMES: readonly (keyof ServeOptions)[] = [
  'host',
  'port',
  'token',
  'insecure',
  'capacity',
  'bodyLimit',
  'frameLimit',
  'vecSlots',
  'batchRequests',
  'pingMs',
  'idleMs',
  'backend',
  'kernel',
  'threads',
  'onFailure',
];

type Optional = 'token' | 'backend' | 'kernel' | 'threads';
export type Settings = Readonly<
  Required<Omit<ServeOptions, Optional | 'insecure'>> & Pick<ServeOptions, Optional>
>;

const MIB = 2 ** 20;
/** Of timers, which know no longer time. */
const MOST_MS = 2 ** 31 - 1;
/** By option: default, least and most. */
const NUMBERS = {
  port: [8000, 0, 65535],
  capacity: [4096, 1, 2 ** 16],
  bodyLimit: [64 * MIB, 1024, 512 * MIB],
  frameLimit: [MIB, 1024, 512 * MIB],
  vecSlots: [2 ** 18, 1, 2 ** 24],
  batchRequests: [8, 1, 1024],
  pingMs: [30_000, 10, MOST_MS],
  idleMs: [900_000, 10, MOST_MS],
} as const satisfies Partial<Record<keyof ServeOptions, readonly [number, number, number]>>;

type NumberName = keyof typeof NUMBERS;
export const DEFAULTS = Object.fromEntries(
  Object.entries(NUMBERS).map(([name, [usual]]) => [name, usual]),
) as Record<NumberName, number>;

/** Of a token that nobody guesses, and that a request's head has room for. */
const [LEAST_TOKEN, MOST_TOKEN] = [16, 4096];

/** @throws InputError. */
export function toServeSettings(options: ServeOptions): Settings {
  const asked = readOptions('serve options', options, NAMES);
  const numbers = Object.entries(NUMBERS).map(([name, [usual, low, high]]) => [
    name,
    checkInteger(name, asked[name as NumberName] ?? usual, low, high),
  ]);
  const host = checkString('host', asked.host ?? '127.0.0.1');
  const { backend, kernel, threads, onFailure = toStandardError } = asked;
  const token = checkToken(asked.token);
  if (token === undefined && !isLoopback(host)) requireInsecure(host, toFlag('insecure', asked.insecure));
  return { ...Object.fromEntries(numbers), host, token, backend, kernel, threads, onFailure } as Settings;
}

function checkToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  const text = checkString('token', token);
  const fits = text.length >= LEAST_TOKEN && text.length <= MOST_TOKEN;
  if (fits && /^[\x21-\x7e]+$/.test(text)) return text;
  // The token itself is nobody's to read.
  throw new InputError(
    'out_of_range',
    `Expected a token of ${LEAST_TOKEN} to ${MOST_TOKEN} printable ASCII characters without spaces, got one of ${text.length}. ` +
      'Make one with: openssl rand -hex 32',
  );
}

/** Whether only this machine reaches it. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
  );
}

function requireInsecure(host: string, insecure: boolean): void {
  if (insecure) return;
  throw new InputError(
    'unknown_option',
    `Expected a token for ${host}, which others may reach, got none. ` +
      'Set RHYTHM_TOKEN, or pass --token-file, or --insecure if all who reach it may use it.',
  );
}

function toStandardError(error: unknown): void {
  process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
}
