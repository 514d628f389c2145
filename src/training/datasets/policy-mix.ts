/** The mix of policies that reach a dataset's states, from good play to bad. */
import { openLoopActions } from '../../agents/policies/open-loop.js';
import { heuristicAction, randomAction } from '../../engine/reference/baselines.js';
import { below, type Draw, threefry } from '../../engine/reference/threefry.js';
import type { Params } from '../../world/block.js';
import { NUM_ACTIONS, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';

/** Where a row's week stands, for who chooses the next action. */
export interface Moment {
  readonly params: Params;
  /** The row's draws: threefry of the dataset's seed, the row and this counter, valid until the next. */
  readonly draw: (counter: number) => Draw;
  /** Of the week. */
  readonly seed: number;
  readonly step: number;
  /** f32 [5], as they are seen. */
  readonly meters: Float32Array;
}

type Act = (moment: Moment) => number;

export interface MixedPolicy {
  /** As rows and cards call it. */
  readonly name: string;
  /** Rows of `SHARES`. */
  readonly share: number;
  /** What it does, for the card. */
  readonly does: string;
  readonly act: Act;
}

/** Counters of a row's draws: one for the row, one for each step, one for its habits. */
const OF_ROW = 0;
const OF_STEP = 1;
const OF_HABITS = OF_STEP + NUM_STEPS;

/** One action of so many is a deviation, on average. */
const DEVIATES = 4;
const HABITS = 3;
const sequence = openLoopActions('v2');

const random: Act = ({ params, seed, step, draw }) => randomAction(params, seed, step, draw(OF_ROW).x1);
const heuristic: Act = ({ params, step, meters }) => heuristicAction(params, step % NUM_SLOTS, meters);
const blind: Act = ({ step }) => sequence[step];
/** The same few actions over and over, which is what a policy that collapses does. */
function habits({ draw, step }: Moment): number {
  const which = below(draw(OF_STEP + step).x0, HABITS);
  const { x0, x1 } = draw(OF_HABITS);
  // The low half of a word, moved up to where `below` looks.
  return below([x0, x1, x0 << 16][which], NUM_ACTIONS);
}

const deviating =
  (act: Act): Act =>
  (moment) => {
    const { x0, x1 } = moment.draw(OF_STEP + moment.step);
    return below(x0, DEVIATES) === 0 ? below(x1, NUM_ACTIONS) : act(moment);
  };
const deviations = `but one action in ${DEVIATES} is random`;

export const MIX_OF_POLICIES: readonly MixedPolicy[] = [
  { name: 'random', share: 4, does: 'the random policy, another in each row', act: random },
  { name: 'heuristic', share: 2, does: 'the heuristic baseline', act: heuristic },
  {
    name: 'heuristic-deviating',
    share: 4,
    does: `the heuristic, ${deviations}`,
    act: deviating(heuristic),
  },
  { name: 'open-loop', share: 1, does: "grader v2's open-loop sequence, the same for everybody", act: blind },
  {
    name: 'open-loop-deviating',
    share: 2,
    does: `the open-loop sequence, ${deviations}`,
    act: deviating(blind),
  },
  {
    name: 'habits',
    share: 3,
    does: `up to ${HABITS} actions, others in each row, over and over at random`,
    act: habits,
  },
];

/** Of all policies. */
export const SHARES = MIX_OF_POLICIES.reduce((sum, { share }) => sum + share, 0);
/** A policy for each share. */
const BY_SHARE = MIX_OF_POLICIES.flatMap((policy) => Array<MixedPolicy>(policy.share).fill(policy));

/** The policy that plays a row's week. */
export const policyOf = (draw: Moment['draw']): MixedPolicy => BY_SHARE[below(draw(OF_ROW).x0, SHARES)];

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x4752504f;
const drawn: Draw = { x0: 0, x1: 0 };

/** @param seed of the dataset. @param row its index. */
export const drawsOf =
  (seed: number, row: number): Moment['draw'] =>
  (counter) =>
    threefry(seed, STREAM, row, counter, drawn);
