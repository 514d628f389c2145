/** Pictures as SVG: well-formed, named, told in words, the same bytes every time, light and dark. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { drawPrices } from '../src/pictures/prices.js';
import { svgOf } from '../src/pictures/svg.js';
import { ACTION_FACES } from '../src/pictures/tapes.js';
import { DARK, LIGHT } from '../src/pictures/theme.js';
import { NUM_ACTIONS, NUM_STEPS } from '../src/world/fields.js';
import { elementsOf, PICTURES, ROW_NAMES, textsOf } from './support/pictures.js';

/** Vega reports what is wrong with a specification as warnings. */
const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockClear());
afterEach(() => expect(warn).not.toHaveBeenCalled());

/** As XML has them: without control characters. */
const shownNames = ROW_NAMES.map((name) => name.replace('\u0007', '?'));

describe.each(PICTURES)('%s', (_, drawing, names) => {
  it('is well-formed, with a title and a description', async () => {
    const [root, title, description] = elementsOf(await svgOf(drawing));
    expect([root.name, root.attributes.role, root.attributes.class]).toEqual([
      'svg',
      'img',
      'rhythm-picture',
    ]);
    expect([title.name, title.text]).toEqual(['title', drawing.title]);
    expect(description.name).toBe('desc');
    for (const name of shownNames) expect(description.text).toContain(`${name}:`);
  });

  it('shows every row and what else has a name', async () => {
    const texts = textsOf(await svgOf(drawing));
    for (const text of [drawing.title, ...shownNames, ...names]) expect(texts).toContain(text);
  });

  it('is the same every time, also when others are drawn meanwhile', async () => {
    const alone = await svgOf(drawing);
    const among = await Promise.all([...PICTURES.map(([, each]) => svgOf(each)), svgOf(drawing)]);
    expect(among.at(-1)).toBe(alone);
  });

  it('can stand beside others in one page: it has no ids, and loads nothing', async () => {
    const svg = await svgOf(drawing);
    expect(svg).not.toMatch(/\sid=|url\(|href=|<script/);
  });

  it('has the tones of its theme alone', async () => {
    const [light, dark] = [await svgOf(drawing, { theme: 'light' }), await svgOf(drawing, { theme: 'dark' })];
    for (const tone of [LIGHT.paper, LIGHT.ink, LIGHT.muted]) {
      expect(light).toContain(`"${tone}"`);
      expect(dark).not.toContain(tone);
    }
    for (const tone of [DARK.paper, DARK.ink, DARK.muted]) {
      expect(dark).toContain(`"${tone}"`);
      expect(light).not.toContain(tone);
    }
  });

  it('by default is light, with a rule for dark screens that print does not heed', async () => {
    const svg = await svgOf(drawing);
    const [style] = svg.match(/<style>.*<\/style>/) ?? [''];
    expect(style).toMatch(/^<style>@media screen and \(prefers-color-scheme:dark\)\{/);
    expect(style).toContain(`.rhythm-picture [fill="${LIGHT.ink}"]{fill:${DARK.ink}}`);
    expect(svg.replace(style, '')).toBe(await svgOf(drawing, { theme: 'light' }));
  });
});

it('a tape has a cell a slot and an entry an action, and no two actions look alike', async () => {
  const [[, drawing]] = PICTURES;
  const texts = textsOf(await svgOf(drawing));
  const marks = ACTION_FACES.map(({ mark }) => mark);
  expect(new Set(marks).size).toBe(NUM_ACTIONS);
  expect(texts.filter((text) => marks.includes(text))).toHaveLength(
    ROW_NAMES.length * NUM_STEPS + NUM_ACTIONS,
  );
  const codes = Array.from({ length: NUM_ACTIONS }, (_, code) => code);
  const inLegend = marks.map((mark) => texts.lastIndexOf(mark));
  expect(codes.map((code) => texts[inLegend[code]])).toEqual(marks);
});

it('prices are sorted, the dearest first', async () => {
  const gain = (mean: number) => ({ mean, low: mean - 0.01, high: mean + 0.01 });
  const names = ['least', 'most', 'middle'];
  const rows = [gain(-0.2), gain(0.3), gain(0)].map((each, k) => ({ name: names[k], gain: each }));
  const texts = textsOf(await svgOf(drawPrices({ baseline: 'x', rows })));
  expect(texts.filter((text) => names.includes(text))).toEqual(['most', 'middle', 'least']);
});
