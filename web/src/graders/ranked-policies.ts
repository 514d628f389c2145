/** The ranked policies: five sources of actions, each with three sources of beliefs, and students trained on the page. */

/** The source of the beliefs: none, the constant belief [0.5, 0.5, 0.5], or inference from the observations. */
export type BeliefSource = 'none' | 'constant' | 'inference';

const OPEN_LOOP_PREFIX = 'open-loop-';
const ACTION_SOURCES = [
  'random',
  'heuristic',
  `${OPEN_LOOP_PREFIX}v1`,
  `${OPEN_LOOP_PREFIX}v2`,
  `${OPEN_LOOP_PREFIX}v3`,
] as const;
const BELIEF_SOURCES: readonly BeliefSource[] = ['none', 'constant', 'inference'];

/** The source of the actions: a policy, the action sequence found for a grader, or a student trained on the page. */
export type ActionSource = (typeof ACTION_SOURCES)[number] | 'student';

export interface RankedPolicy {
  readonly name: string;
  readonly actionSource: ActionSource;
  readonly beliefSource: BeliefSource;
}

/** The ranked policies without students, in the order of the tables of evaluations. */
export const RANKED_POLICIES: readonly RankedPolicy[] = BELIEF_SOURCES.flatMap((beliefSource) =>
  ACTION_SOURCES.map((actionSource) => ({
    name: beliefSource === 'none' ? actionSource : `${actionSource}+${beliefSource}`,
    actionSource,
    beliefSource,
  })),
);

/** Returns the ranked policy with this name. Any other name is that of a student trained on the page, which infers beliefs. */
export const rankedPolicy = (name: string): RankedPolicy =>
  RANKED_POLICIES.find((each) => each.name === name) ?? {
    name,
    actionSource: 'student',
    beliefSource: 'inference',
  };

/** Returns the grader whose action sequence is played; null for other sources of actions. */
export const sequenceGraderOf = (actionSource: ActionSource): string | null =>
  actionSource.startsWith(OPEN_LOOP_PREFIX) ? actionSource.slice(OPEN_LOOP_PREFIX.length) : null;
