/** Compares the versions and errors in docs/compatibility.md with the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ComponentsParser } from '../../src/cli/components/component-row.js';
import { parseRow } from '../../src/cli/replay/replay-row.js';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { checkCompatible } from '../../src/engine/snapshot/compatible.js';
import { decodeSnapshot } from '../../src/engine/snapshot/decode.js';
import { encodeSnapshot } from '../../src/engine/snapshot/encode.js';
import { FORMAT, HEADER, HEADER_LENGTH } from '../../src/engine/snapshot/format.js';
import { checkStates } from '../../src/engine/snapshot/legal-states.js';
import { parseEpisode } from '../../src/rollouts/trajectories/read-line.js';
import { BadRow } from '../../src/shared/row-schemas.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { STATE, STATE_WORDS } from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { createWorld } from '../../src/world/world.js';
import { ENGINES } from '../support/engines.js';
import { WORLD } from '../support/open-batch.js';
import { Random } from '../support/random.js';
import { refusalOf } from '../support/refusals.js';
import { advancedBatch, snapshotOf, withByte, withChecksum, withNumber } from '../support/snapshots.js';

const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8');
const random = new Random('compatibility');
const snapshot = snapshotOf(random, advancedBatch(random, ENGINES[0], 4).batch.save(), 4);
const bytes = encodeSnapshot(snapshot);

/** Replaces digests and checksums by placeholders. */
const withoutDigests = (message: string): string =>
  message.replace(/\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b/g, '<digest>').replace(/\b[0-9a-f]{8}\b/g, '<crc>');

const decodingError = (damaged: Uint8Array) => refusalOf(() => decodeSnapshot(damaged)).message;

function otherWorldError(): string {
  const world = createWorld({ ...structuredClone(RHYTHM), beliefGain: 1 });
  return refusalOf(() => checkCompatible(snapshot, { ...snapshot, world })).message;
}

function illegalStateError(): string {
  const words = snapshot.words.slice();
  // Environment 3 is at step 77, but an episode has 28 steps.
  words[3 * STATE_WORDS + STATE.step] = 77;
  return refusalOf(() => checkStates(words, 4, WORLD)).message;
}

function rowError(extra: object): string {
  try {
    parseRow(JSON.stringify({ seed: 1, actions: ['sleep'], ...extra }));
  } catch (error) {
    if (error instanceof BadRow) return error.message;
    throw error;
  }
  throw new Error('Expected an invalid row, got a valid one.');
}

const graderError = (): string => {
  const schema = { ...SCHEMAS.grader, version: 2 };
  return refusalOf(() => parseGrader(JSON.stringify({ schema, name: 'calm', weights: {} }), 'calm.json'))
    .message;
};

function componentsError(): string {
  const schema = { ...SCHEMAS.components, version: 2 };
  try {
    new ComponentsParser().parse(JSON.stringify({ schema }));
  } catch (error) {
    return (error as BadRow).message;
  }
  throw new Error('Expected an invalid header, got a valid one.');
}

function trajectoryError(fields: object): string {
  const line = { schema: SCHEMAS.trajectory, world_digest: WORLD.digest, ...fields };
  try {
    parseEpisode(JSON.stringify(line));
  } catch (error) {
    return (error as BadRow).message;
  }
  throw new Error('Expected an invalid line, got a valid one.');
}
const trajectoryVersionError = (version: number): string =>
  trajectoryError({ schema: { ...SCHEMAS.trajectory, version } });

const messages: [string, () => string][] = [
  ['bytes that are not a snapshot', () => decodingError(new Uint8Array(1000))],
  ['a snapshot of an older format', () => decodingError(withNumber(bytes, 'format', FORMAT - 1))],
  ['a snapshot of a newer format', () => decodingError(withNumber(bytes, 'format', FORMAT + 1))],
  [
    'a snapshot of another layout',
    () => decodingError(withChecksum(withByte(bytes, HEADER.stateLayoutDigest.offset, 0x5a))),
  ],
  ['a snapshot of another world version', () => decodingError(withNumber(bytes, 'worldMajor', 2))],
  ['a damaged snapshot', () => decodingError(withByte(bytes, bytes.length - 1, bytes[bytes.length - 1] ^ 1))],
  ['a snapshot of another world', otherWorldError],
  ['a snapshot with an illegal state', illegalStateError],
  ['a row of another schema', () => rowError({ schema: { ...SCHEMAS.episode, version: 2 } })],
  ['a grader of another schema', graderError],
  ['components of another schema', componentsError],
  ['an older trajectory', () => trajectoryVersionError(0)],
  ['a newer trajectory', () => trajectoryVersionError(2)],
  ['a trajectory of another schema', () => trajectoryError({ schema: SCHEMAS.episode })],
  ['a trajectory of another world', () => trajectoryError({ world_digest: 'f'.repeat(64) })],
  ['a row of another world', () => rowError({ world_digest: 'f'.repeat(64) })],
];
it.each(messages)('the page quotes the error for %s', (_, messageOf) => {
  const lines = page.split('\n').map((line) => line.trim());
  expect(lines).toContain(withoutDigests(messageOf()));
});

it('the last row of the table has the versions of the world, the snapshot format and the schemas', () => {
  const rows = page.split('\n').filter((line) => /^\| \d+\.\d+\.\d+ \|/.test(line));
  const [, world, ...versions] = rows[rows.length - 1]
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
  expect(world).toBe(RHYTHM.version);
  const schemas = Object.values(SCHEMAS).map(({ version }) => version);
  expect(versions.map(Number)).toEqual([FORMAT, ...schemas]);
});

it('the page names every schema and the length of a snapshot header', () => {
  for (const { name, version } of Object.values(SCHEMAS)) {
    expect(page).toContain(`{"name": "${name}", "version": ${version}}`);
  }
  expect(page).toContain(`a header of ${HEADER_LENGTH} bytes`);
});
