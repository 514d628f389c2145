/** Which weeks become rows, and why the others do not: tables in the order in which they are asked. */
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { rangeText } from '../dataset-seeds.js';
import type { SftPlan } from './sft-options.js';

/** What a replay knows of a week. */
export interface Scored {
  readonly score: number;
  /** Over the heuristic with the constant belief, in the same week. */
  readonly margin: number;
  readonly beliefMae: number;
}

interface Filter<Subject> {
  /** Of what is left out, as counts call it. */
  readonly name: string;
  /** What is asked for, as cards say it; null where nothing is. */
  readonly asked: (plan: SftPlan) => string | null;
  readonly takes: (plan: SftPlan, subject: Subject) => boolean;
}

const among = (names: readonly string[] | null, name: string | null): boolean =>
  names === null || (name !== null && names.includes(name));
const listed = (what: string, names: readonly string[] | null): string | null =>
  names && `${what} ${names.join(', ')}`;

/** By what a line says. */
const OF_LINES: readonly Filter<TrajectoryEpisode>[] = [
  {
    name: 'another objective',
    asked: ({ objective }) => `objective ${objective}`,
    takes: (plan, { objective }) => (objective ?? 'none') === plan.objective,
  },
  {
    name: 'shown hidden numbers',
    asked: ({ allowOracle }) =>
      allowOracle
        ? 'TEACHERS THAT WERE SHOWN HIDDEN NUMBERS, TOO'
        : 'no teacher that was shown hidden numbers',
    takes: ({ allowOracle }, { oracle }) => allowOracle || !oracle,
  },
  {
    name: 'another seed',
    asked: ({ seeds }) => `seeds ${rangeText(seeds)}`,
    takes: ({ seeds }, { seed }) => seed >= seeds.first && seed <= seeds.last,
  },
  {
    name: 'another teacher',
    asked: ({ teacher }) => listed('teacher', teacher),
    takes: (plan, { teacher }) => among(plan.teacher, teacher),
  },
  {
    name: 'another model',
    asked: ({ model }) => listed('model', model),
    takes: (plan, { model }) => among(plan.model, model),
  },
  {
    name: 'another condition',
    asked: ({ conditions }) => listed('condition', conditions),
    takes: ({ conditions }, { condition }) => among(conditions, condition),
  },
  {
    name: 'answers without an action',
    asked: ({ onlyParsed }) => (onlyParsed ? 'every completion of the week names an action' : null),
    takes: ({ onlyParsed }, { steps }) => !onlyParsed || steps.every(({ parsed }) => parsed),
  },
];

/** By what was earned. */
const OF_SCORES: readonly Filter<Scored>[] = [
  {
    name: 'a lower score',
    asked: ({ minScore, grader }) =>
      minScore === null ? null : `a final score of at least ${minScore} under ${grader.name}`,
    takes: ({ minScore }, { score }) => minScore === null || score >= minScore,
  },
  {
    name: 'too little over heuristic+constant',
    asked: ({ minMargin, grader }) =>
      minMargin === null
        ? null
        : `a final score of at least ${minMargin} over that of heuristic+constant in the same week, under ${grader.name}`,
    takes: ({ minMargin }, { margin }) => minMargin === null || margin >= minMargin,
  },
  {
    name: 'a larger belief error',
    asked: ({ maxBeliefError }) =>
      maxBeliefError === null
        ? null
        : `an error of the last belief of at most ${maxBeliefError}: CHOSEN BY HIDDEN NUMBERS, which no agent sees`,
    takes: ({ maxBeliefError }, { beliefMae }) => maxBeliefError === null || beliefMae <= maxBeliefError,
  },
];

const firstAgainst = <Subject>(
  filters: readonly Filter<Subject>[],
  plan: SftPlan,
  subject: Subject,
): string | null => filters.find(({ takes }) => !takes(plan, subject))?.name ?? null;

/** Why a line is left out; null for one that is not. */
export const lineRefusal = (plan: SftPlan, episode: TrajectoryEpisode): string | null =>
  firstAgainst(OF_LINES, plan, episode);

/** Why a replayed week is left out; null for one that is not. */
export const scoreRefusal = (plan: SftPlan, scored: Scored): string | null =>
  firstAgainst(OF_SCORES, plan, scored);

/** What is asked for, as cards list it. */
export const filtersSaid = (plan: SftPlan): string[] =>
  [...OF_LINES, ...OF_SCORES].flatMap(({ asked }) => asked(plan) ?? []);
