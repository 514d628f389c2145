/** Tests figures as SVG: well-formed, with title and description, the same bytes every time, light and dark. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACTION_STYLES } from '../../src/figures/action-sequences.js';
import { drawGains } from '../../src/figures/gains.js';
import { svgOf } from '../../src/figures/svg.js';
import { DARK, LIGHT } from '../../src/figures/theme.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../src/world/fields.js';
import { elementsOf, PICTURES, ROW_NAMES, svgOnce, textsOf } from '../support/pictures.js';

/** Vega reports errors in a specification as warnings. */
const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockClear());
afterEach(() => expect(warn).not.toHaveBeenCalled());

/** The names of rows as XML contains them: with ? for the control character. */
const xmlNames = ROW_NAMES.map((name) => name.replace('\u0007', '?'));

it('figures have the same bytes when rendered one by one and concurrently', async () => {
  const sequential = [];
  for (const [, drawing] of PICTURES) sequential.push(await svgOnce(drawing));
  expect(await Promise.all(PICTURES.map(([, drawing]) => svgOf(drawing)))).toEqual(sequential);
});

describe.each(PICTURES)('%s', (_, drawing, names) => {
  it('is well-formed, with a title, a description, the names of rows and other labels, and loads nothing', async () => {
    const svg = await svgOnce(drawing);
    const [{ name, attributes }, title, description] = elementsOf(svg);
    expect([name, attributes.role, attributes.class]).toEqual(['svg', 'img', 'rhythm-picture']);
    expect([title.name, title.text, description.name]).toEqual(['title', drawing.title, 'desc']);
    for (const each of xmlNames) expect(description.text).toContain(`${each}:`);
    expect(textsOf(svg)).toEqual(expect.arrayContaining([drawing.title, ...xmlNames, ...names]));
    expect(svg).not.toMatch(/\sid=|url\(|href=|<script/);
  });

  it('has the colours of its theme, by default light, with a rule for dark screens that does not apply to print', async () => {
    const [light, dark] = [await svgOnce(drawing, 'light'), await svgOnce(drawing, 'dark')];
    for (const name of ['paper', 'ink', 'muted'] as const) {
      expect([light.includes(`"${LIGHT[name]}"`), light.includes(DARK[name])]).toEqual([true, false]);
      expect([dark.includes(`"${DARK[name]}"`), dark.includes(LIGHT[name])]).toEqual([true, false]);
    }
    const svg = await svgOnce(drawing);
    const [style] = svg.match(/<style>.*<\/style>/) ?? [''];
    expect(style).toMatch(/^<style>@media screen and \(prefers-color-scheme:dark\)\{/);
    expect(style).toContain(`.rhythm-picture [fill="${LIGHT.ink}"]{fill:${DARK.ink}}`);
    expect(svg.replace(style, '')).toBe(light);
  });
});

it('action sequences have a cell for each step and a legend of all actions, with unique marks', async () => {
  const [[, drawing]] = PICTURES;
  const texts = textsOf(await svgOnce(drawing));
  const marks = ACTION_STYLES.map(({ mark }) => mark);
  expect(new Set(marks).size).toBe(NUM_ACTIONS);
  expect(texts.filter((text) => marks.includes(text))).toHaveLength(
    ROW_NAMES.length * NUM_STEPS + NUM_ACTIONS,
  );
  const codes = Array.from({ length: NUM_ACTIONS }, (_, code) => code);
  const inLegend = marks.map((mark) => texts.lastIndexOf(mark));
  expect(codes.map((code) => texts[inLegend[code]])).toEqual(marks);
});

it('gains are sorted, the greatest first', async () => {
  const gain = (mean: number) => ({ mean, low: mean - 0.01, high: mean + 0.01 });
  const names = ['least', 'most', 'middle'];
  const rows = [gain(-0.2), gain(0.3), gain(0)].map((each, k) => ({ name: names[k], gain: each }));
  const texts = textsOf(await svgOf(drawGains({ baseline: 'x', rows })));
  expect(texts.filter((text) => names.includes(text))).toEqual(['most', 'middle', 'least']);
});
