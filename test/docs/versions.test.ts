/** The messages for data of another version, and the schemas in docs/installing.md. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseRow } from '../../src/cli/replay-rows.js';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { checkCompatible, decodeSnapshot, encodeSnapshot } from '../../src/engine/snapshot/codec.js';
import { FORMAT, HEADER } from '../../src/engine/snapshot/format.js';
import { checkStates } from '../../src/engine/snapshot/legal-states.js';
import { parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { STATE, STATE_WORDS } from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { createWorld } from '../../src/world/world.js';
import { ENGINES } from '../support/engines.js';
import { WORLD } from '../support/open-batch.js';
import { Random } from '../support/random.js';
import { advancedBatch, snapshotOf, withByte, withChecksum, withNumber } from '../support/snapshots.js';

const random = new Random('compatibility');
const snapshot = snapshotOf(random, advancedBatch(random, ENGINES[0], 4).batch.save(), 4);
const bytes = encodeSnapshot(snapshot);

/** Replaces digests and checksums by placeholders. */
const withoutDigests = (message: string): string =>
  message.replace(/\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b/g, '<digest>').replace(/\b[0-9a-f]{8}\b/g, '<crc>');

function otherWorld(): void {
  const world = createWorld({ ...structuredClone(RHYTHM), beliefGain: 1 });
  checkCompatible(snapshot, { ...snapshot, world });
}

function illegalState(): void {
  const words = snapshot.words.slice();
  // Environment 3 is at step 77, but an episode has 28 steps.
  words[3 * STATE_WORDS + STATE.step] = 77;
  checkStates(words, 4, WORLD);
}

const parseChangedRow = (fields: object) =>
  parseRow(JSON.stringify({ seed: 1, actions: ['sleep'], ...fields }));
const parseTrajectory = (fields: object) =>
  parseEpisode(JSON.stringify({ schema: SCHEMAS.trajectory, world_digest: WORLD.digest, ...fields }));
const schemaOf = (name: keyof typeof SCHEMAS, version: number) => ({ schema: { ...SCHEMAS[name], version } });
const parseNewerGrader = () =>
  parseGrader(JSON.stringify({ ...schemaOf('grader', 2), name: 'calm', weights: {} }), 'calm.json');
const otherLayout = withChecksum(withByte(bytes, HEADER.stateLayoutDigest.offset, 0x5a));
const OTHER_WORLD = { world_digest: 'f'.repeat(64) };

it.each<[string, string, () => unknown]>([
  [
    'bytes that are not a snapshot',
    'Expected bytes that begin with "RHYTHMVS", got other bytes. Pass what snapshot() returned.',
    () => decodeSnapshot(new Uint8Array(1000)),
  ],
  [
    'a snapshot of another format',
    'Expected a snapshot of format 3, got format 2. Make it again with this release.',
    () => decodeSnapshot(withNumber(bytes, 'format', FORMAT - 1)),
  ],
  [
    'a snapshot of another layout',
    'Expected states of the layout <digest>, got <digest>. Make it again with this release.',
    () => decodeSnapshot(otherLayout),
  ],
  [
    'a snapshot of another world version',
    'Expected episodes of world version 1.1.0, got version 2.1.0. Make it again with this release.',
    () => decodeSnapshot(withNumber(bytes, 'worldMajor', 2)),
  ],
  [
    'a damaged snapshot',
    'Expected the CRC-32 of header and body to be <crc>, as the header says, got <crc>: bytes have changed since they were written. Pass the bytes as snapshot() returned them.',
    () => decodeSnapshot(withByte(bytes, bytes.length - 1, bytes.at(-1)! ^ 1)),
  ],
  [
    'a snapshot of another world',
    "Expected a snapshot of this environment's world, rhythm (<digest>), got one of <digest>. Create an environment with the snapshot's world.",
    otherWorld,
  ],
  [
    'a snapshot with an illegal state',
    'Expected field step of environment 3 to be from 0 to 28, got 77. Pass the bytes as snapshot() returned them.',
    illegalState,
  ],
  [
    'a row of another schema',
    'schema: Expected "rhythm-vec/episode" version 1, got "rhythm-vec/episode" version 2. Make it again with this release.',
    () => parseChangedRow(schemaOf('episode', 2)),
  ],
  [
    'a row of another world',
    'world_digest: Expected <digest>, the world of this release, got "<digest>". Make it again with this release.',
    () => parseChangedRow(OTHER_WORLD),
  ],
  [
    'a grader of another schema',
    'Expected "rhythm-vec/grader" version 1 at schema of calm.json, got "rhythm-vec/grader" version 2. Make it again with this release.',
    parseNewerGrader,
  ],
  [
    'a trajectory of another version',
    'schema: Expected "rhythm-vec/trajectory" version 1, got "rhythm-vec/trajectory" version 2. Make it again with this release.',
    () => parseTrajectory(schemaOf('trajectory', 2)),
  ],
  [
    'a trajectory of another schema',
    'schema: Expected "rhythm-vec/trajectory" version 1, got "rhythm-vec/episode" version 1. Make it again with this release.',
    () => parseTrajectory({ schema: SCHEMAS.episode }),
  ],
  [
    'a trajectory of another world',
    'world_digest: Expected <digest>, the world of this release, got "<digest>". Make it again with this release.',
    () => parseTrajectory(OTHER_WORLD),
  ],
])('the error for %s says what was expected, what came and the remedy', (_, expected, call) => {
  let message = 'no error';
  try {
    call();
  } catch (error) {
    message = (error as Error).message;
  }
  expect(withoutDigests(message)).toBe(expected);
});

it('docs/installing.md lists every schema', () => {
  const page = readFileSync(new URL('../../docs/installing.md', import.meta.url), 'utf8');
  const listed = Array.from(page.matchAll(/^\| `(rhythm-vec\/[\w-]+)` (\d+) \|/gm), ([, name, version]) => ({
    name,
    version: Number(version),
  }));
  expect(listed).toEqual(Object.values(SCHEMAS));
});
