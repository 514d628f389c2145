/** The first person, and the actions that a newcomer is shown first. */
import { ACTION_NAMES, NUM_SLOTS } from '../../../src/world/fields.js';

interface Hint {
  /** A code of ACTION_NAMES. */
  readonly action: number;
  /** What the action tells about a person. */
  readonly question: string;
}

/**
 * One hint for each of the first five slots. Work in the morning and in the evening tells the `morning` and the `work` of a
 * belief, company the `social`; test/web/person-logic.test.ts has the errors of the beliefs after them.
 */
export const HINTS: readonly Hint[] = (
  [
    ['deep_work', 'Do they focus in the morning?'],
    ['socialize', 'Does company drain them?'],
    ['deep_work', 'And in the evening: more, or less?'],
    ['sleep', 'Everybody needs it at night.'],
    ['family_time', 'Does company calm them?'],
  ] as const
).map(([name, question]) => ({ action: ACTION_NAMES.indexOf(name), question }));

/** The steps of the first day, after which the page asks who the person is. */
export const FIRST_DAY = NUM_SLOTS;

/**
 * The person of the first visit: tired by company, a night owl, who lives for work, so the three numbers of the belief are far
 * from the middle. The first two days have no event, and the first five hints show ten effects that luck cannot
 * explain. Chosen by a search of the seeds below 10,000; test/web/person-logic.test.ts has these properties.
 */
export const FIRST_SEED = 458;
