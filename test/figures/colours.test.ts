/** Tests that the colours of figures can be told apart, also by colour-blind readers, on light and dark backgrounds. */
import { describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import { STEPPED_POLICIES } from '../../src/agents/policies/observing-policies.js';
import { kindOf, POLICY_COLOURS, POLICY_KINDS } from '../../src/figures/policy-colours.js';
import { drawScores } from '../../src/figures/scores.js';
import { svgOf } from '../../src/figures/svg.js';
import {
  ACCENT,
  CATEGORY_SHADES,
  COMPONENT_COLOURS,
  DARK,
  INK_ON_COLOUR,
  LIGHT,
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

/** Matrices from linear RGB to perceived linear RGB (Machado, Oliveira and Fernandes 2009, severity 1). */
const VISION: Record<string, readonly Triple[]> = {
  'with all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'without red cones': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'without green cones': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'without blue cones': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Returns the perceived colour in CIE L*a*b*. */
function lab(hex: string, vision: readonly Triple[]): Triple {
  const perceived = vision.map((row) => Math.min(1, Math.max(0, dot(row, linear(hex)))));
  const [x, y, z] = [
    dot([0.4124, 0.3576, 0.1805], perceived) / 0.95047,
    dot([0.2126, 0.7152, 0.0722], perceived),
    dot([0.0193, 0.1192, 0.9505], perceived) / 1.08883,
  ].map((share) => (share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Returns the smallest difference (CIE76) of two colours of a list; 2.3 is just noticeable. */
function minDifference(colours: readonly string[], vision: readonly Triple[]): number {
  const perceived = colours.map((hex) => lab(hex, vision));
  const pairs = perceived.flatMap((a, i) => perceived.slice(i + 1).map((b) => [a, b]));
  return Math.min(...pairs.map(([a, b]) => Math.hypot(...a.map((value, k) => value - b[k]))));
}

const policiesOn = (theme: 'light' | 'dark'): string[] =>
  POLICY_KINDS.map((kind) => POLICY_COLOURS[kind][theme]);

describe.each(Object.entries(VISION))('perceived %s', (_, vision) => {
  // The minima are chosen by hand, below the smallest differences of the present colours.
  it.each([
    ['categories', CATEGORY_SHADES.map(([strongest]) => strongest), 20],
    ['actions', CATEGORY_SHADES.flat(), 8],
    ['components', COMPONENT_COLOURS, 12],
    ['a series and the colour of emphasis', [SERIES, ACCENT], 50],
    ['policies, a series and emphasis on light', [...policiesOn('light'), SERIES, ACCENT, LIGHT.ink], 13],
    ['policies, a series and emphasis on dark', [...policiesOn('dark'), SERIES, ACCENT, DARK.ink], 13],
  ])('%s differ', (_name, colours, minimum) => {
    expect(minDifference(colours, vision)).toBeGreaterThan(minimum);
  });
});

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

describe('the kind of a policy', () => {
  it.each([
    ['hand', 'hand'],
    ['random+constant', 'random'],
    ['heuristic', 'heuristic'],
    ['heuristic+constant · results.json', 'heuristic'],
    ['open-loop-v3', 'open-loop'],
    ['open-loop+inference', 'inference'],
    ['planner-wellbeing', 'planner'],
    ['planner (wellbeing) [oracle]', 'oracle'],
    ['oracle-open-loop', 'oracle'],
    ['student-v3-clone', 'student'],
    ['teacher', 'teacher'],
    ['llm:planner', null],
  ])('%s is %s', (name, kind) => {
    expect(kindOf(name)).toBe(kind);
  });

  it('is known for every built-in policy', () => {
    for (const { name } of [...POLICIES, ...STEPPED_POLICIES]) expect(kindOf(name), name).not.toBeNull();
  });
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
