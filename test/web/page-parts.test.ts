/** Tests parts of the page: the daily episode, parts of a score, the theme, and the schedules of trainings. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  CATEGORY_SHADES,
  COMPONENT_COLOURS,
  DARK,
  INK_ON_COLOUR,
  LIGHT,
  POLICY_COLOURS,
  POLICY_KINDS,
  SERIES,
} from '../../src/figures/theme.js';
import { toTrainRequest } from '../../src/training/student/train-options.js';
import { BELIEF_NAMES, COMPONENT_NAMES, GRADER_NAMES } from '../../src/world/fields.js';
import { leftOf, placeOf, stackOf } from '../../web/src/charts/score-parts.js';
import { PLAYER_NAMES } from '../../web/src/person/episode.js';
import { SCHEDULES } from '../../web/src/sizes.js';
import { isPlayableDay, seedOfDay, today } from '../../web/src/views/fields.js';
import {
  BELIEF_WORDS,
  COMPONENT_WORDS,
  colourOf,
  GRADER_WORDS,
  policyLabel,
  policyName,
  policyWords,
} from '../../web/src/words.js';
import { SCHEDULES as SHORT } from '../support/web/small-sizes.js';

it('the daily episode has a seed for each day up to today', () => {
  const days = ['2026-11-24', '2024-02-29', '2000-01-01', today()];
  const others = ['2026-02-30', '2023-02-29', '1999-12-31', '9999-01-01', '2026-1-1', '', '2025-13-01', 'x'];
  expect(days.filter((day) => !isPlayableDay(day))).toEqual([]);
  expect(others.filter(isPlayableDay)).toEqual([]);
  expect(seedOfDay('2026-11-24')).toBe(20_261_124);
});

it('positive parts of a score are stacked to the right of 0, and negative parts to the left', () => {
  const parts = [0.25, -0.125, 0, 0.5, -0.25];
  const ends = stackOf(parts).map(({ start, end }) => [start, end]);
  expect(ends.flat()).toEqual([0, 0.25, -0.125, 0, 0.25, 0.25, 0.25, 0.75, -0.375, -0.125]);
  expect([leftOf(parts), leftOf([0.5, 0])]).toEqual([-0.375, 0]);
  const place = placeOf({ start: -0.25, end: 0.5 }, { low: -0.25, high: 0.75 });
  expect(place).toEqual({ left: '0%', width: '75%' });
});

it.each([
  ['light', LIGHT],
  ['dark', DARK],
] as const)(
  'the page and figures share the %s theme, where no two meanings share a colour',
  (name, theme) => {
    const css = readFileSync(new URL('../../web/src/styles/tokens.css', import.meta.url), 'utf8');
    const COLOURS = /--([\w-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));/g;
    const found = Array.from(css.matchAll(COLOURS), ([, key, light, dark, both]) => ({
      key,
      light,
      dark,
      both,
    }));
    const page = new Map(found.map(({ key, both, ...pair }) => [key, both ?? pair[name]]));
    for (const [key, colour] of Object.entries(theme)) expect(page.get(key), key).toBe(colour);
    expect([page.get('series'), page.get('on-colour')]).toEqual([SERIES, INK_ON_COLOUR]);
    const meanings = [
      ...POLICY_KINDS.map((kind) => POLICY_COLOURS[kind][name]),
      ...[...CATEGORY_SHADES.flat(), ...COMPONENT_COLOURS],
      ...found.flatMap(({ both }) => both ?? []),
      ...['ink', 'muted', 'accent', 'wrong', 'warn-rule'].map((key) => page.get(key)),
    ];
    expect(meanings).not.toContain(undefined);
    expect(new Set(meanings).size).toBe(meanings.length);
  },
);

it('a policy has the colour of its kind', () => {
  expect(colourOf('a student trained here')).toBe('var(--policy-student)');
  expect(colourOf('heuristic+constant')).toBe(colourOf('heuristic'));
  expect(colourOf('open-loop')).not.toBe(colourOf('heuristic'));
});

it('the published schedules of trainings are accepted, and the short ones of tests set the same options', () => {
  expect(toTrainRequest(SCHEDULES.played)).toMatchObject(SCHEDULES.played);
  expect(toTrainRequest(SCHEDULES.stored)).toMatchObject(SCHEDULES.stored);
  for (const kind of ['stored', 'played'] as const)
    expect(Object.keys(SHORT[kind])).toEqual(Object.keys(SCHEDULES[kind]));
});

it('each policy, belief, component and grader has its own words for visitors', () => {
  const names = PLAYER_NAMES.map(policyName);
  expect(new Set(names).size).toBe(names.length);
  for (const code of PLAYER_NAMES) {
    const isOwn = policyWords(code).startsWith('A student that was trained in this browser');
    expect([code, isOwn]).toEqual([code, false]);
  }
  expect(policyName('constructor')).toBe('constructor');
  expect(policyName('open-loop+constant')).toBe('same week for everybody, guessing 0.5');
  expect(policyName('open-loop-v3+inference')).toBe('same week for everybody (v3), reading the person');
  expect([policyLabel('heuristic'), policyLabel('planner'), policyLabel('my-student')]).toEqual([
    'daily rules of thumb (heuristic)',
    'planner',
    'my-student',
  ]);
  expect(Object.keys(BELIEF_WORDS)).toEqual(BELIEF_NAMES);
  expect(Object.keys(COMPONENT_WORDS)).toEqual(COMPONENT_NAMES);
  expect(Object.keys(GRADER_WORDS)).toEqual(GRADER_NAMES);
});
