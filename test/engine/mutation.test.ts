/**
 * Checks that comparisons with the reference can fail. Changes each word of the block of numbers in the world of the tested
 * engine; a comparison must report the change if a rule reads the word. UNREAD lists the words that no rule reads, with the
 * reason.
 */
import { describe, expect, it } from 'vitest';
import { allocateTrajectory } from '../../src/engine/backends/outputs.js';
import { toGraders } from '../../src/engine/validate/profiles.js';
import { BLOCK_LAYOUT, type BlockName, readBlock } from '../../src/world/block.js';
import {
  GRADER_NAMES,
  MODE,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  PROFILE_SIZE,
  TRAIT_NAMES,
} from '../../src/world/fields.js';
import type { World } from '../../src/world/world.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  REFERENCE,
  reportAbsentEngines,
  shareOf,
} from '../support/async-engines.js';
import { type Columns, copyColumns, differences, equalBits } from '../support/bits.js';
import { openAsyncBatch } from '../support/open-async-batch.js';
import { WORLD } from '../support/open-batch.js';

reportAbsentEngines();

interface Mutant {
  readonly word: string;
  readonly world: World;
}

/** The words that are codes, such as an action, and the number of values of each. */
const CODES: Partial<Record<BlockName, number>> = {
  beliefInverted: 2,
  beliefSource: PROFILE_SIZE,
  heuristicSchedule: NUM_ACTIONS,
  heuristicMeter: NUM_METERS,
  heuristicAction: NUM_ACTIONS,
};
/** The words that are sets of bits, and the number of bits of each. */
const SETS: Partial<Record<BlockName, number>> = { tagged: NUM_ACTIONS, heuristicSlots: NUM_SLOTS };

/** Returns other legal values of a word: for a set, one for each changed bit; for a code, the next code; else a number. */
function otherValues(name: BlockName, isFloat: boolean, value: number): number[] {
  const bits = SETS[name];
  if (bits !== undefined) return Array.from({ length: bits }, (_, bit) => (value ^ (1 << bit)) >>> 0);
  const codes = CODES[name];
  if (codes !== undefined) return [(value + 1) % codes];
  // Arbitrary changes: of a float, a factor and an offset that changes 0 too; of an integer, bit 30.
  return [isFloat ? value * 1.5 + 0.0371 : (value ^ 0x40000000) >>> 0];
}

function mutants(): Mutant[] {
  return BLOCK_LAYOUT.flatMap(({ name, offset, shape, word }) => {
    const length = shape.reduce((product, n) => product * n, 1);
    return Array.from({ length }, (_, k) => k).flatMap((k) => {
      const isFloat = word === 'f32';
      const floats = new Float32Array(WORLD.words.buffer);
      const value = isFloat ? floats[offset + k] : WORLD.words[offset + k];
      return otherValues(name as BlockName, isFloat, value).map((other, j, all) => ({
        word: `${name}[${k}]${all.length > 1 ? ` bit ${j}` : ''}`,
        world: worldWithWord(offset + k, isFloat, other),
      }));
    });
  });
}

function worldWithWord(at: number, isFloat: boolean, value: number): World {
  const words = WORLD.words.slice();
  if (isFloat) new Float32Array(words.buffer)[at] = value;
  else words[at] = value;
  return { ...WORLD, words, params: readBlock(words) };
}

/**
 * Settings of batches that together use every rule: two policies, each with and without imagination. The number of episodes is
 * chosen by hand: fewer might miss the change of a word, and more take longer.
 */
const LARGE_BATCHES = (['random', 'heuristic'] as const).flatMap((kind) =>
  [false, true].map((imagination) => ({ kind, imagination, n: 160 })),
);
/** The settings of all batches. Small batches come first, because they suffice to detect most changes. */
const BATCHES = [
  { kind: 'random', imagination: false, n: 4 },
  { kind: 'heuristic', imagination: true, n: 16 },
  { kind: 'random', imagination: false, n: 16 },
  ...LARGE_BATCHES,
] as const;

/** Plays a batch of episodes. @returns its columns and trajectory. */
async function playBatch(
  engine: AsyncEngine,
  world: World,
  { kind, imagination, n }: (typeof BATCHES)[number],
): Promise<Columns> {
  const { batch, columns } = await openAsyncBatch(engine, n, { world, imagination });
  const names = Array.from({ length: n }, (_, i) => GRADER_NAMES[i % GRADER_NAMES.length]);
  const modes = Uint8Array.from({ length: n }, (_, i) => (i % 4 ? MODE.sampled : MODE.discrete));
  const seeds = Uint32Array.from({ length: n }, (_, i) => i + 100);
  batch.reset({ mask: null, seeds, modes, profiles: null, graders: toGraders(world, names, n) });
  const trajectory = allocateTrajectory(n);
  const policy = kind === 'random' ? ({ kind, policySeeds: null } as const) : ({ kind } as const);
  const beliefs = { kind: 'constant', belief: Float32Array.of(0.02, 0.5, 0.9) } as const;
  await batch.run({ policy, beliefs, stops: null, trajectory });
  const all = { ...(await columns()), ...copyColumns(trajectory) };
  batch.close();
  return all;
}

const expected = await Promise.all(BATCHES.map((setup) => playBatch(REFERENCE, WORLD, setup)));

async function isReported(engine: AsyncEngine, world: World): Promise<boolean> {
  for (const [k, setup] of BATCHES.entries()) {
    if (!equalBits(expected[k], await playBatch(engine, world, setup))) return true;
  }
  return false;
}

const trait = (name: string) => TRAIT_NAMES.indexOf(name);
/** Traits that are not factors of a belief target. */
const NOT_IN_BELIEFS = [
  'solo_serenity_bonus',
  'leisure_guilt',
  'stress_threshold',
  'metabolic_rate',
  'event_impact',
];

/** Words that no rule reads on any engine. */
const UNREAD = new Map<string, string>([
  ...NOT_IN_BELIEFS.map(
    (name) => [`traitInverseSpan[${trait(name)}]`, `${name} is not a factor of a belief target`] as const,
  ),
  [`traitNeutral[${trait('metabolic_rate')}]`, 'an anomaly does not include decay'],
  [`traitNeutral[${trait('event_impact')}]`, 'an anomaly does not include events'],
]);

const MUTANTS = mutants();

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('equals the reference if no word changes', async () => {
    for (const [k, setup] of BATCHES.entries()) {
      expect(differences(expected[k], await playBatch(engine, WORLD, setup))).toEqual([]);
    }
  });

  const tested = shareOf(engine, MUTANTS);

  it(`comparisons report a change of any word that a rule reads (${tested.length} changes)`, async () => {
    const missed: string[] = [];
    for (const { word, world } of tested) if (!(await isReported(engine, world))) missed.push(word);
    expect(missed).toEqual(tested.map(({ word }) => word).filter((word) => UNREAD.has(word)));
  });
});
