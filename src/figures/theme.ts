/** The theme of figures: colours, fonts, the configuration of Vega-Lite and the types of its specifications; numbers as text, and its width. */
import type { Config, TopLevelSpec } from 'vega-lite';

/**
 * Colours of the light theme. For the dark theme `svgOf` finds them in an SVG by their text and uses those of DARK instead. So
 * each must differ from every other colour of a figure.
 */
export const LIGHT = {
  paper: '#ffffff',
  ink: '#1b1f24',
  muted: '#57606a',
  rule: '#c9d1d9',
  shade: '#eef1f4',
} as const;

/** Colours of the dark theme. */
export const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: '#0d1117',
  ink: '#e6edf3',
  muted: '#9aa5b1',
  rule: '#3d444d',
  shade: '#1a212b',
};

/** The colour of text on a coloured surface, in both themes. */
export const INK_ON_COLOUR = '#101214';

/** The colour of a single series, visible in both themes. */
export const SERIES = '#2f81c7';
/** The colour of emphasis. */
export const ACCENT = '#d1690e';

/**
 * One hue for each category of actions and one shade for each action, the strongest first. They are distinguishable for
 * colour-blind people and light enough for `INK_ON_COLOUR`.
 */
export const CATEGORY_SHADES: readonly (readonly string[])[] = [
  ['#5b82d0', '#94aee0', '#cbd7f0'],
  ['#5cd0ab', '#9fe3cd', '#d2f3e9'],
  ['#d4703f', '#e5a98c'],
  ['#e9cf35', '#f7edb2'],
];

/** One colour for each component of the grade, distinguishable like the shades of actions. */
export const COMPONENT_COLOURS: readonly string[] = [
  '#b9c1ca',
  '#5b8be0',
  '#d6a0d6',
  '#f0d43a',
  '#35b58c',
  '#dd7440',
  '#a4e58a',
  '#ea4a62',
];

/** Fonts. `pngOf` uses Inter. The others are not wider, so no text is cut off. */
export const FONT = 'Inter, Helvetica, Arial, sans-serif';
/** The size of labels and notes, in pixels. */
export const FONT_SIZE = 11;
/** The weight of titles and emphasised names. */
export const SEMIBOLD = 600;

/** An axis that shows only names. */
export const NAME_AXIS = { title: null, domain: false, ticks: false, labelColor: LIGHT.ink } as const;

/** The colour in the field `colour`. */
export const COLOUR = { field: 'colour', type: 'nominal', scale: null } as const;

/** The names of the rows of bars. The padding of each row, half above and half below, is within its height. */
export const BAR_NAMES = {
  field: 'name',
  type: 'nominal',
  axis: { ...NAME_AXIS, labelPadding: 8 },
  scale: { paddingInner: 0.25, paddingOuter: 0.125 },
} as const;

/** Returns the title of a panel, at its left. */
export const panelTitle = (text: string) =>
  ({ text, anchor: 'start', frame: 'group', fontSize: 12, fontWeight: SEMIBOLD, offset: 6 }) as const;

/** The configuration of all figures. Text is never truncated; a long name widens the figure. */
export const CONFIG: Config = {
  // One description for the figure, instead of a role for every mark.
  aria: false,
  background: LIGHT.paper,
  padding: 14,
  font: FONT,
  title: {
    anchor: 'start',
    frame: 'bounds',
    offset: 14,
    color: LIGHT.ink,
    fontSize: 15,
    fontWeight: SEMIBOLD,
    subtitleColor: LIGHT.muted,
    subtitleFontSize: FONT_SIZE,
    subtitleLineHeight: 16,
    subtitlePadding: 6,
  },
  axis: {
    domainColor: LIGHT.rule,
    gridColor: LIGHT.rule,
    gridOpacity: 0.6,
    tickColor: LIGHT.rule,
    tickSize: 4,
    labelColor: LIGHT.muted,
    labelFontSize: FONT_SIZE,
    labelLimit: 0,
    titleColor: LIGHT.ink,
    titleFontSize: FONT_SIZE,
    titleFontWeight: 'normal',
    titleLimit: 0,
    titlePadding: 8,
  },
  header: {
    labelColor: LIGHT.ink,
    labelFontSize: FONT_SIZE,
    labelFontWeight: SEMIBOLD,
    labelLimit: 0,
    titleColor: LIGHT.ink,
    titleFontSize: FONT_SIZE,
  },
  legend: {
    labelColor: LIGHT.ink,
    labelFontSize: FONT_SIZE,
    labelLimit: 0,
    symbolType: 'square',
    symbolSize: 140,
    symbolStrokeWidth: 0,
    title: null,
  },
  text: { font: FONT, fontSize: FONT_SIZE, color: LIGHT.ink },
  view: { stroke: null },
};

/** A whole specification. */
export type TopView = TopLevelSpec;

/** A part of a specification. */
export type View = Extract<TopLevelSpec, { vconcat: unknown }>['vconcat'][number];

/** A layer. */
export type Layer = Extract<TopLevelSpec, { layer: unknown }>['layer'][number];

/** A colour for light backgrounds, and one for dark backgrounds. */
interface Shades {
  readonly light: string;
  readonly dark: string;
}

/**
 * The kinds of policies. `open-loop`: also the reactive policy. `inference`: a policy with inferred beliefs added. `hand`: the visitor of the page. `teacher`: what a
 * student imitates while it trains.
 */
export type PolicyKind =
  | 'hand'
  | 'random'
  | 'heuristic'
  | 'open-loop'
  | 'inference'
  | 'planner'
  | 'student'
  | 'oracle'
  | 'teacher';

/**
 * The colours by kind. Their contrast with the background is at least 3, and colour-blind readers can tell them apart:
 * test/figures/colours.test.ts computes both. No colour has another meaning.
 */
export const POLICY_COLOURS: Readonly<Record<PolicyKind, Shades>> = {
  hand: { light: '#5e175a', dark: '#ae5497' },
  random: { light: '#6c7774', dark: '#9c9f9c' },
  heuristic: { light: '#1d5aae', dark: '#3adff7' },
  'open-loop': { light: '#661700', dark: '#e59b05' },
  inference: { light: '#004730', dark: '#1b9f64' },
  planner: { light: '#a24d8f', dark: '#e478f8' },
  student: { light: '#1e7128', dark: '#7cc87d' },
  oracle: { light: '#c51721', dark: '#a8561b' },
  teacher: { light: '#09238a', dark: '#685ade' },
};

export const POLICY_KINDS = Object.keys(POLICY_COLOURS) as readonly PolicyKind[];

/** Patterns of the policies' names, and their kinds. The first pattern that matches a name decides. */
const PATTERNS: readonly (readonly [name: RegExp, kind: PolicyKind])[] = [
  [/^(hand|you)$/, 'hand'],
  [/^teacher$/, 'teacher'],
  [/\boracle\b/, 'oracle'],
  [/^planner(-|$| )/, 'planner'],
  [/^student(-|$| )/, 'student'],
  [/\+inference\b/, 'inference'],
  [/^heuristic(\+|$| )/, 'heuristic'],
  [/^(open-loop|reactive)(-|\+|$| )/, 'open-loop'],
  [/^random(\+|$| )/, 'random'],
];

/**
 * Returns the kind of a policy by its name: `heuristic` for "heuristic+constant", whose actions are those of the heuristic.
 * Null if the policy is of no kind, such as a language model.
 */
export const kindOf = (name: string): PolicyKind | null =>
  PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? null;

/**
 * Returns the colour of a player on light backgrounds, which `svgOf` replaces on dark ones; SERIES if the player is of no kind.
 */
export function colourOfPlayer(name: string): string {
  const kind = kindOf(name);
  return kind === null ? SERIES : POLICY_COLOURS[kind].light;
}

/** Formats a number with `digits` decimals. */
export const decimal = (value: number, digits: number): string => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
};

/** Formats a number with `digits` decimals and its sign; 0 has none. */
export const signed = (value: number, digits: number): string => {
  const text = decimal(value, digits);
  return text.startsWith('−') || Number(text) === 0 ? text : `+${text}`;
};

/** Upper bounds of character widths in the font Inter, regular and semibold, as shares of the font size. */
const NARROW = 0.4;
const MEDIUM = 0.64;
const WIDE = 0.88;
const NARROW_CHARACTERS = new Set(' !"\'(),-./1:;I[\\]`fijlrt|');
const WIDE_CHARACTERS = new Set('%@ACDGHMNOQUVWXYmw');

/** Estimates the width of a line of text, in the unit of the font size. Characters beyond ASCII count as wide. */
export function textWidth(text: string, fontSize: number): number {
  let shares = 0;
  for (const character of text) shares += shareOf(character);
  return shares * fontSize;
}

/** Estimates the width of the widest line in the default font size, in pixels. */
export const widestOf = (texts: readonly string[]): number =>
  Math.max(...texts.map((text) => textWidth(text, FONT_SIZE)));

function shareOf(character: string): number {
  if (NARROW_CHARACTERS.has(character)) return NARROW;
  return WIDE_CHARACTERS.has(character) || character > '~' ? WIDE : MEDIUM;
}
