/** Tests that the colours of figures differ and contrast with their backgrounds, and that each policy has its colour. */
import { expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { STEPPED_POLICIES } from '../../src/agents/policies/stepped-policies.js';
import { drawScores } from '../../src/figures/scores.js';
import { svgOf } from '../../src/figures/svg.js';
import {
  ACCENT,
  CATEGORY_SHADES,
  COMPONENT_COLOURS,
  DARK,
  INK_ON_COLOUR,
  kindOf,
  LIGHT,
  POLICY_COLOURS,
  POLICY_KINDS,
  SERIES,
} from '../../src/figures/theme.js';
import { COMPONENT_NAMES } from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';

type Triple = readonly number[];
const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Converts "#rrggbb" to linear RGB in [0, 1]. */
const linear = (hex: string): Triple =>
  [1, 3, 5].map((start) => {
    const value = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });

/** Returns the contrast of two colours by WCAG 2, from 1 to 21. */
function contrast(a: string, b: string): number {
  const [dark, light] = [a, b].map((hex) => dot([0.2126, 0.7152, 0.0722], linear(hex))).sort((p, q) => p - q);
  return (light + 0.05) / (dark + 0.05);
}

const policiesOn = (theme: 'light' | 'dark'): string[] =>
  POLICY_KINDS.map((kind) => POLICY_COLOURS[kind][theme]);

it('each action and component has a colour', () => {
  const counts = RHYTHM.categories.map(
    (name) => RHYTHM.actions.filter(({ category }) => category === name).length,
  );
  expect(CATEGORY_SHADES.map((shades) => shades.length)).toEqual(counts);
  expect(COMPONENT_COLOURS).toHaveLength(COMPONENT_NAMES.length);
});

it('text and lines contrast with their background', () => {
  for (const colour of [...CATEGORY_SHADES.flat(), ...COMPONENT_COLOURS]) {
    expect(contrast(INK_ON_COLOUR, colour)).toBeGreaterThan(4.5);
  }
  for (const { ink, muted, paper, shade } of [LIGHT, DARK]) {
    for (const text of [ink, muted]) expect(contrast(text, paper)).toBeGreaterThan(4.5);
    for (const line of [SERIES, ACCENT]) expect(contrast(line, shade)).toBeGreaterThan(3);
  }
  for (const theme of ['light', 'dark'] as const) {
    const { paper, shade } = theme === 'light' ? LIGHT : DARK;
    for (const colour of policiesOn(theme)) {
      expect(contrast(colour, paper)).toBeGreaterThan(3);
      expect(contrast(colour, shade)).toBeGreaterThan(3);
    }
  }
});

it('all colours differ, so that replacing the colours of the light theme changes no others', () => {
  const others = [
    ...CATEGORY_SHADES.flat(),
    ...COMPONENT_COLOURS,
    ...policiesOn('light'),
    ...policiesOn('dark'),
    INK_ON_COLOUR,
    SERIES,
    ACCENT,
  ];
  const all = [...Object.values(LIGHT), ...Object.values(DARK), ...others];
  expect(new Set(all).size).toBe(all.length);
  for (const colour of all) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
});

it('the kind of a policy follows from its name, and is known for every built-in policy', () => {
  const kinds = {
    hand: 'hand',
    'random+constant': 'random',
    heuristic: 'heuristic',
    'heuristic+constant · results.json': 'heuristic',
    'open-loop-v3': 'open-loop',
    'open-loop+inference': 'inference',
    'planner-wellbeing': 'planner',
    'planner (wellbeing) [oracle]': 'oracle',
    'oracle-open-loop': 'oracle',
    'student-v3-clone': 'student',
    teacher: 'teacher',
    'llm:planner': null,
  };
  for (const [name, kind] of Object.entries(kinds)) expect(kindOf(name), name).toBe(kind);
  for (const { name } of [...POLICIES, ...STEPPED_POLICIES]) expect(kindOf(name), name).not.toBeNull();
});

it('a policy has its colour in a figure, and another one on dark screens', async () => {
  const score = { mean: 0.5, low: 0.4, high: 0.6 };
  const drawing = drawScores({ groups: [{ name: 'all', rows: [{ name: 'planner', score }] }] });
  const { light, dark } = POLICY_COLOURS.planner;
  const [auto, onDark] = [await svgOf(drawing), await svgOf(drawing, { theme: 'dark' })];
  expect(auto).toContain(`[fill="${light}"]{fill:${dark}}`);
  expect(auto).toContain(`fill="${light}"`);
  expect(onDark).toContain(`fill="${dark}"`);
  expect(onDark).not.toContain(light);
});
