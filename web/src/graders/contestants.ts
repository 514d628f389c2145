/** The ranked policies: four ways to act, each with three ways to state a belief. */

/** No belief, the constant belief [0.5, 0.5, 0.5], or a belief inferred from the observations. */
export type Believing = 'none' | 'constant' | 'inference';

const OPEN_LOOP_PREFIX = 'open-loop-';
const ACTIONS = ['random', 'heuristic', `${OPEN_LOOP_PREFIX}v1`, `${OPEN_LOOP_PREFIX}v2`] as const;
const BELIEVING: readonly Believing[] = ['none', 'constant', 'inference'];

/** The source of the actions: a policy, or the action sequence found for a grader. */
export type Acting = (typeof ACTIONS)[number];

export interface Contestant {
  readonly name: string;
  readonly acting: Acting;
  readonly believing: Believing;
}

/** All contestants, in the order of the tables of evaluations. */
export const CONTESTANTS: readonly Contestant[] = BELIEVING.flatMap((believing) =>
  ACTIONS.map((acting) => ({
    name: believing === 'none' ? acting : `${acting}+${believing}`,
    acting,
    believing,
  })),
);

/** Returns the contestant with this name. */
export const contestant = (name: string): Contestant => CONTESTANTS.find((each) => each.name === name)!;

/** Returns the grader whose action sequence is played; null for other ways to act. */
export const sequenceGraderOf = (acting: Acting): string | null =>
  acting.startsWith(OPEN_LOOP_PREFIX) ? acting.slice(OPEN_LOOP_PREFIX.length) : null;
