/** Encodes snapshots as bytes, decodes them from untrusted bytes, and compares them with an environment. */

import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils';
import { MAKE_AGAIN } from '../../shared/schemas.js';
import { describe, kindOf } from '../../shared/values.js';
import { MAX_ENVS, MAX_U32, STATE_WORDS } from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import { identityOf, type World } from '../../world/world.js';
import { AUTORESET_MODES } from '../vec-env/autoreset.js';
import {
  bytesOf,
  checksumOf,
  FORMAT,
  HEADER_LENGTH,
  type HeaderName,
  headerBytes,
  headerNumber,
  MAGIC,
  putHeaderNumber,
  refuse,
  reorderBytes,
  type Snapshot,
  stateLayoutDigest,
} from './format.js';

interface Header {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/**
 * Decodes a snapshot and checks its header. Call `checkStates` to check its states.
 * @param source a Uint8Array, such as a Buffer. The result does not share its memory.
 * @throws InputError `bad_snapshot` for the first error.
 */
export function decodeSnapshot(source: Uint8Array): Snapshot {
  const input = checkBytes(source);
  // Copies each part before the check, because another thread could change shared memory between check and use.
  const bytes = copyOf(input, 0, HEADER_LENGTH);
  const header = { bytes, view: new DataView(bytes.buffer) };
  checkKind(header);
  const numEnvs = checkLengths(header, input.length);
  const words = readWords(input, HEADER_LENGTH, numEnvs * STATE_WORDS);
  const episodeNumbers = readWords(input, HEADER_LENGTH + words.byteLength, numEnvs);
  checkChecksum(header, words, episodeNumbers);
  if (headerBytes(bytes, 'reserved').some((byte) => byte !== 0)) refuse('reserved bytes of 0', 'other bytes');
  reorderBytes(words);
  reorderBytes(episodeNumbers);
  const worldDigest = bytesToHex(headerBytes(bytes, 'worldDigest'));
  return { worldDigest, numEnvs, ...readModes(header), words, episodeNumbers };
}

function checkBytes(source: unknown): Uint8Array {
  if (kindOf(source) !== 'Uint8Array') {
    refuse('a snapshot as a Uint8Array', describe(source), 'Pass the bytes that snapshot() returned.');
  }
  const input = source as Uint8Array;
  if (input.length < HEADER_LENGTH) {
    refuse(
      `a snapshot of at least ${HEADER_LENGTH} bytes (its header)`,
      input.length,
      'Pass all the bytes that snapshot() returned.',
    );
  }
  return input;
}

function copyOf(input: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(to - from);
  bytes.set(input.subarray(from, to));
  return bytes;
}

/** Copies words from the body, without changing their byte order. */
function readWords(input: Uint8Array, from: number, length: number): Uint32Array {
  const words = new Uint32Array(length);
  const bytes = bytesOf(words);
  bytes.set(input.subarray(from, from + bytes.length));
  return words;
}

/** Refuses snapshots that this release cannot read. */
function checkKind({ bytes, view }: Header): void {
  const magic = String.fromCharCode(...headerBytes(bytes, 'magic'));
  if (magic !== MAGIC) {
    refuse(`bytes that begin with "${MAGIC}"`, 'other bytes', 'Pass what snapshot() returned.');
  }
  const format = headerNumber(view, 'format');
  if (format !== FORMAT) refuse(`a snapshot of format ${FORMAT}`, `format ${format}`, MAKE_AGAIN);
  checkNumber(view, 'headerLength', HEADER_LENGTH, 'a header of', ' bytes');
  const layout = bytesToHex(headerBytes(bytes, 'stateLayoutDigest'));
  if (layout !== stateLayoutDigest()) {
    refuse(`states of the layout ${short(stateLayoutDigest())}`, short(layout), MAKE_AGAIN);
  }
  const version = (['worldMajor', 'worldMinor', 'worldPatch'] as const)
    .map((name) => headerNumber(view, name))
    .join('.');
  if (version !== RHYTHM.version) {
    refuse(`episodes of world version ${RHYTHM.version}`, `version ${version}`, MAKE_AGAIN);
  }
}

/** Shortens a digest, for errors. */
const short = (digest: string): string => digest.slice(0, 12);

/** Checks the lengths before they are used to allocate memory. @returns numEnvs. */
function checkLengths({ view }: Header, length: number): number {
  const numEnvs = headerNumber(view, 'numEnvs');
  if (numEnvs < 1 || numEnvs > MAX_ENVS) refuse(`from 1 to ${MAX_ENVS} environments (numEnvs)`, numEnvs);
  checkNumber(view, 'stateWords', STATE_WORDS, 'states of', ' words');
  const bodyLength = numEnvs * (STATE_WORDS + 1) * Uint32Array.BYTES_PER_ELEMENT;
  checkNumber(view, 'bodyLength', bodyLength, 'a body of', ` bytes for ${numEnvs} environments`);
  const expected = HEADER_LENGTH + bodyLength;
  if (length !== expected) {
    refuse(
      `${expected} bytes (a header of ${HEADER_LENGTH}, a body of ${bodyLength})`,
      length,
      'Pass all the bytes that snapshot() returned.',
    );
  }
  return numEnvs;
}

/** Checks a number of the header. @param before the text before `expected` in the error. @param after the text after it. */
function checkNumber(
  view: DataView,
  name: HeaderName,
  expected: number,
  before: string,
  after: string,
): void {
  const got = headerNumber(view, name);
  if (got !== expected) refuse(`${before} ${expected}${after} (${name})`, got);
}

function checkChecksum({ bytes, view }: Header, words: Uint32Array, episodeNumbers: Uint32Array): void {
  const hex = (sum: number): string => sum.toString(16).padStart(8, '0');
  const stored = headerNumber(view, 'checksum');
  const sum = checksumOf(bytes, bytesOf(words), bytesOf(episodeNumbers));
  if (sum === stored) return;
  refuse(
    `the CRC-32 of header and body to be ${hex(stored)}, as the header says`,
    `${hex(sum)}: bytes have changed since they were written`,
  );
}

/** Returns the header's autoreset mode, imagination, counters and seed range. */
function readModes({ view }: Header) {
  const number = (name: HeaderName, low: number, high: number): number => {
    const value = headerNumber(view, name);
    if (value < low || value > high) refuse(`${name} from ${low} to ${high}`, value);
    return value;
  };
  const seedLow = number('seedLow', 0, MAX_U32);
  return {
    autoreset: AUTORESET_MODES[number('autoreset', 0, AUTORESET_MODES.length - 1)],
    imagination: number('imagination', 0, 1) === 1,
    steps: number('steps', 0, Number.MAX_SAFE_INTEGER),
    episodes: number('episodes', 0, Number.MAX_SAFE_INTEGER),
    seedRange: [seedLow, number('seedSize', 1, MAX_U32 + 1 - seedLow)] as const,
  };
}

/**
 * Returns the bytes of a snapshot: the header (format.ts), then the states' words and the episode numbers, 4 bytes each.
 * @param snapshot valid values, which this function does not check.
 * @returns newly allocated. @throws RangeError if there is not enough memory.
 */
export function encodeSnapshot(snapshot: Snapshot): Uint8Array {
  const { words, episodeNumbers } = snapshot;
  const length = words.length + episodeNumbers.length;
  const bytes = new Uint8Array(HEADER_LENGTH + length * Uint32Array.BYTES_PER_ELEMENT);
  const body = new Uint32Array(bytes.buffer, HEADER_LENGTH, length);
  body.set(words);
  body.set(episodeNumbers, words.length);
  reorderBytes(body);
  const header = bytes.subarray(0, HEADER_LENGTH);
  writeHeader(header, snapshot, body.byteLength);
  putHeaderNumber(viewOf(header), 'checksum', checksumOf(header, bytes.subarray(HEADER_LENGTH)));
  return bytes;
}

const viewOf = (header: Uint8Array): DataView =>
  new DataView(header.buffer, header.byteOffset, header.length);

function writeHeader(header: Uint8Array, snapshot: Snapshot, bodyLength: number): void {
  headerBytes(header, 'magic').set(utf8ToBytes(MAGIC));
  headerBytes(header, 'stateLayoutDigest').set(hexToBytes(stateLayoutDigest()));
  headerBytes(header, 'worldDigest').set(hexToBytes(snapshot.worldDigest));
  const view = viewOf(header);
  for (const [name, value] of Object.entries(numbersOf(snapshot))) {
    putHeaderNumber(view, name as HeaderName, value);
  }
  putHeaderNumber(view, 'bodyLength', bodyLength);
}

/** Returns the header's numbers except `bodyLength` and `checksum`. */
function numbersOf(snapshot: Snapshot) {
  const { numEnvs, words, autoreset, imagination, seedRange, steps, episodes } = snapshot;
  const [worldMajor, worldMinor, worldPatch] = RHYTHM.version.split('.').map(Number);
  const [seedLow, seedSize] = seedRange;
  return {
    format: FORMAT,
    headerLength: HEADER_LENGTH,
    worldMajor,
    worldMinor,
    worldPatch,
    numEnvs,
    stateWords: words.length / numEnvs,
    autoreset: AUTORESET_MODES.indexOf(autoreset),
    imagination: Number(imagination),
    seedLow,
    seedSize,
    steps,
    episodes,
  } satisfies Partial<Record<HeaderName, number>>;
}

/** The properties that an environment must share with a snapshot. */
export interface SnapshotTarget
  extends Pick<Snapshot, 'numEnvs' | 'autoreset' | 'imagination' | 'seedRange'> {
  readonly world: World;
}

/**
 * Compares a snapshot with an environment.
 * @throws InputError `bad_snapshot` that names the difference: the world, numEnvs, imagination, autoreset or seedRange.
 */
export function checkCompatible(snapshot: Snapshot, { world, ...target }: SnapshotTarget): void {
  if (snapshot.worldDigest !== world.digest) {
    refuse(
      `a snapshot of this environment's world, ${identityOf(world)}`,
      `one of ${snapshot.worldDigest}`,
      "Create an environment with the snapshot's world.",
    );
  }
  for (const name of ['numEnvs', 'imagination', 'autoreset', 'seedRange'] as const) {
    const [expected, got] = [JSON.stringify(target[name]), JSON.stringify(snapshot[name])];
    if (expected === got) continue;
    refuse(
      `a snapshot with ${name} ${expected} (this environment's)`,
      got,
      `Create an environment with { ${name}: ${got} }.`,
    );
  }
}
