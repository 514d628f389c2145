/** Compares the schemas and errors in docs/compatibility.md with the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseRow } from '../../src/cli/replay-rows.js';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { checkCompatible, decodeSnapshot, encodeSnapshot } from '../../src/engine/snapshot/codec.js';
import { FORMAT, HEADER, HEADER_LENGTH } from '../../src/engine/snapshot/format.js';
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

const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8');
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

it.each<[string, () => unknown]>([
  ['bytes that are not a snapshot', () => decodeSnapshot(new Uint8Array(1000))],
  ['a snapshot of another format', () => decodeSnapshot(withNumber(bytes, 'format', FORMAT - 1))],
  ['a snapshot of another layout', () => decodeSnapshot(otherLayout)],
  ['a snapshot of another world version', () => decodeSnapshot(withNumber(bytes, 'worldMajor', 2))],
  ['a damaged snapshot', () => decodeSnapshot(withByte(bytes, bytes.length - 1, bytes.at(-1)! ^ 1))],
  ['a snapshot of another world', otherWorld],
  ['a snapshot with an illegal state', illegalState],
  ['a row of another schema', () => parseChangedRow(schemaOf('episode', 2))],
  ['a row of another world', () => parseChangedRow(OTHER_WORLD)],
  ['a grader of another schema', parseNewerGrader],
  ['a trajectory of another version', () => parseTrajectory(schemaOf('trajectory', 2))],
  ['a trajectory of another schema', () => parseTrajectory({ schema: SCHEMAS.episode })],
  ['a trajectory of another world', () => parseTrajectory(OTHER_WORLD)],
])('the page quotes the error for %s', (_, call) => {
  let message = 'no error';
  try {
    call();
  } catch (error) {
    message = (error as Error).message;
  }
  const lines = page.split('\n').map((line) => line.trim());
  expect(lines).toContain(withoutDigests(message));
});

it('the page names every schema and the length of a snapshot header', () => {
  for (const { name, version } of Object.values(SCHEMAS)) {
    expect(page).toContain(`{"name": "${name}", "version": ${version}}`);
  }
  expect(page).toContain(`a header of ${HEADER_LENGTH} bytes`);
});
