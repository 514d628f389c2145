/** Records episodes, and selects them for a dataset for SFT. */
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { PlayedResults } from '../../src/training/datasets/replay-results.js';
import { sftCardText } from '../../src/training/datasets/sft/sft-card.js';
import { type SftOptions, toSftPlan } from '../../src/training/datasets/sft/sft-rows.js';
import { SftSelection, sftProvenanceOf } from '../../src/training/datasets/sft/sft-selection.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from './trajectories.js';

/** Returns the integers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** A teacher with the objective wellbeing. */
export const wellbeingPlayer = playerOf({ objective: 'wellbeing' });

/** Returns 30 episodes of a teacher with the objective wellbeing, seeds 100-129. */
export const recordWellbeing = () =>
  recordEpisodes(episodeStarts(range(100, 129)), { player: wellbeingPlayer });

/** Returns 3 episodes of a teacher without an objective. Its answers often lack an action or a belief. */
export const recordLlm = () =>
  recordEpisodes(episodeStarts(range(100, 102)), {
    policy: TEST_POLICIES.incompleteText,
    // Tables of a card must escape the bar in this name.
    player: playerOf({ model: 'm|x' }),
  });

/** Selects episodes by the options. Returns the rows and the card, and in `leftOut` the numbers of episodes by reason. */
export async function select(episodes: readonly TrajectoryEpisode[], options: SftOptions = {}) {
  const plan = toSftPlan(options);
  const source = await PlayedResults.open(plan.grader, {}, { baselines: true });
  await using selection = new SftSelection(plan, source);
  const { rows, mismatched } = await selection.add(episodes);
  const card = sftCardText({
    provenance: sftProvenanceOf(plan),
    selection,
    files: [{ split: 'train', path: 'train.jsonl' }],
    command: 'rhythm-vec dataset sft',
  });
  const all = [...rows.train, ...rows.validation];
  return { rows, all, mismatched, selection, card, leftOut: Object.fromEntries(selection.leftOut) };
}
