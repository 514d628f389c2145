/** Encodes a snapshot as bytes. */
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils';
import { RHYTHM } from '../../world/numbers.js';
import { AUTORESET_MODES } from '../validate/autoreset-modes.js';
import {
  FORMAT,
  HEADER_LENGTH,
  type HeaderName,
  headerBytes,
  MAGIC,
  putHeaderNumber,
  type Snapshot,
  stateLayoutDigest,
} from './format.js';
import { checksumOf, reorderBytes } from './words.js';

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
