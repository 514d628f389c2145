/** The two digests: of the layout, which code is compiled against, and of a world's numbers. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { BLOCK_LAYOUT } from './block.js';
import { COMPONENT_FIELDS, type Field, NUM_STEPS, OBSERVATION_FIELDS, STATE_FIELDS } from './fields.js';
import { RHYTHM } from './spec.js';

const places = (fields: readonly Field[]) =>
  fields.map(({ name, offset, size, word }) => ({ name, offset, size, word }));

/**
 * SHA-256, hexadecimal, of everything that compiled code assumes about state, observation, grade and world block.
 * It is compiled into the addon; one that was built for another layout refuses to open.
 */
export function layoutDigest(): string {
  const names = RHYTHM.actions.map((action) => action.name);
  const layout = {
    names,
    steps: NUM_STEPS,
    slots: RHYTHM.slots,
    block: BLOCK_LAYOUT,
    state: places(STATE_FIELDS),
    observation: places(OBSERVATION_FIELDS),
    components: places(COMPONENT_FIELDS),
  };
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(layout))));
}

/** SHA-256, hexadecimal, of a world block's 32-bit words in little-endian order. */
export function worldDigest(words: Uint32Array): string {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word, true);
  });
  return bytesToHex(sha256(bytes));
}
