/** How pictures look: colours, type and line weights, once for all of them. */
import type { Config } from 'vega-lite';

/**
 * What is drawn with, on paper. `svgOf` exchanges these, and no other colours, for their `DARK` counterparts: so no two
 * may be equal, and nothing else in a picture may be one of them.
 */
export const LIGHT = {
  paper: '#ffffff',
  ink: '#1b1f24',
  muted: '#57606a',
  rule: '#c9d1d9',
  shade: '#eef1f4',
} as const;

/** The same on a dark background. */
export const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: '#0d1117',
  ink: '#e6edf3',
  muted: '#9aa5b1',
  rule: '#3d444d',
  shade: '#1a212b',
};

/** Ink on a coloured surface, which is as light in the dark. */
export const INK_ON_COLOUR = '#101214';

/** One series: stands out from white and from black paper alike. */
export const SERIES = '#2f81c7';
/** What is to be noticed beside it; told apart from it by lightness too. */
export const ACCENT = '#d1690e';

/**
 * One hue a category of actions, one shade an action, the strongest first: chosen so that all of them stay apart for the
 * colour-blind too, and are light enough for `INK_ON_COLOUR`.
 */
export const CATEGORY_SHADES: readonly (readonly string[])[] = [
  ['#5b82d0', '#94aee0', '#cbd7f0'],
  ['#5cd0ab', '#9fe3cd', '#d2f3e9'],
  ['#d4703f', '#e5a98c'],
  ['#e9cf35', '#f7edb2'],
];

/** One colour a component of the grade, chosen as the shades are. */
export const COMPONENT_COLOURS: readonly string[] = [
  '#b9c1ca',
  '#5b8be0',
  '#d6a0d6',
  '#f0d43a',
  '#35b58c',
  '#dd7440',
];

/** Inter is what `pngOf` brings along; the others are as wide or narrower, so nothing is cut where it is missing. */
export const FONT = 'Inter, Helvetica, Arial, sans-serif';
export const FONT_SIZE = 11;
export const SEMIBOLD = 600;

/** Names beside rows, or above columns: an axis of nothing but texts. */
export const NAME_AXIS = { title: null, domain: false, ticks: false, labelColor: LIGHT.ink } as const;

/** What all pictures have in common. No text has a limit: nothing is cut, a long name makes a wide picture. */
export const CONFIG: Config = {
  // One description for the whole picture says more than a role for every mark.
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
