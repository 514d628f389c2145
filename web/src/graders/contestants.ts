/** Who is ranked: four ways to act, each with three ways to believe. */

/** Says nothing of the person, says the middle of everything, or infers from what it sees. */
export type Believing = 'none' | 'constant' | 'inference';

const TAPE = 'blind-tape-';
const ACTIONS = ['random', 'heuristic', `${TAPE}v1`, `${TAPE}v2`] as const;
const BELIEVING: readonly Believing[] = ['none', 'constant', 'inference'];

/** How it acts. */
export type Acting = (typeof ACTIONS)[number];

export interface Contestant {
  readonly name: string;
  readonly acting: Acting;
  readonly believing: Believing;
}

/** In the order in which the engine's tables show them. */
export const CONTESTANTS: readonly Contestant[] = BELIEVING.flatMap((believing) =>
  ACTIONS.map((acting) => ({
    name: believing === 'none' ? acting : `${acting}+${believing}`,
    acting,
    believing,
  })),
);

export const contestant = (name: string): Contestant => CONTESTANTS.find((each) => each.name === name)!;

/** The grader whose tape is played; null for actions that are no tape. */
export const tapeOf = (acting: Acting): string | null =>
  acting.startsWith(TAPE) ? acting.slice(TAPE.length) : null;
