/** Tests timelines of episodes: complete or partial, with and without beliefs and targets. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pngOf } from '../../src/figures/png.js';
import { svgOf } from '../../src/figures/svg.js';
import { drawTimeline } from '../../src/figures/timeline.js';
import type { TimelineEpisode } from '../../src/figures/timeline-episode.js';
import { ACTION_NAMES, BELIEF_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../../src/world/fields.js';
import { elementsOf, ODD_NAME, Pixels, playedTimeline, svgOnce, textsOf } from '../support/pictures.js';

/** Vega reports errors in a specification as warnings. */
const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockClear());
afterEach(() => expect(warn).not.toHaveBeenCalled());

const WHOLE = playedTimeline(NUM_STEPS);
const { target: _, ...WITHOUT_TARGET } = WHOLE;
const { beliefs: __, ...WITHOUT_BELIEFS } = playedTimeline(9);
const EPISODES: [name: string, episode: TimelineEpisode][] = [
  ['a complete episode', WHOLE],
  ['an episode without a target', WITHOUT_TARGET],
  ['an episode of nine steps without beliefs', WITHOUT_BELIEFS],
  ['an episode without steps', playedTimeline(0)],
  [
    'an episode with an event at every step',
    { ...WHOLE, events: Array.from(WHOLE.events, (_, step) => step % EVENT_NAMES.length) },
  ],
];

describe.each(EPISODES)('%s', (_name, episode) => {
  const drawing = drawTimeline({ title: ODD_NAME, notes: ['a note'], episode });

  it('is well-formed, and shows meters, actions, events, rewards, beliefs and days', async () => {
    const svg = await svgOnce(drawing);
    const [root, title] = elementsOf(svg);
    expect([root.attributes.role, title.text]).toEqual(['img', ODD_NAME.replace('\u0007', '?')]);
    expect(svg).not.toMatch(/NaN|undefined|\sid=|url\(|href=|<script/);
    expect(svg).toContain('a note</tspan>');
    const texts = textsOf(svg);
    for (const text of [...METER_NAMES, 'actions', 'events', 'reward', 'day 1', 'day 7']) {
      expect(texts).toContain(text);
    }
    const names = ACTION_NAMES.map((action) => action.replaceAll('_', ' '));
    expect(texts.filter((text) => names.includes(text))).toEqual(
      Array.from(episode.actions, (action) => names[action]),
    );
    const events = EVENT_NAMES.map((event) => event.replaceAll('_', ' '));
    expect(texts.filter((text) => events.includes(text))).toHaveLength(
      Array.from(episode.events).filter((event) => event >= 0).length,
    );
    for (const belief of BELIEF_NAMES) expect(texts.includes(belief)).toBe(episode.beliefs !== undefined);
  });

  it('shows its title, and draws nothing at its left, right and lower edges', async () => {
    const pixels = new Pixels(await pngOf(await svgOnce(drawing), { scale: 1 }));
    const [width, height] = pixels.size;
    // The title is in this rectangle. Eight pixels are less than the padding of a figure (CONFIG in src/figures/theme.ts).
    expect(pixels.countDrawn(28, 28, 300, 64)).toBeGreaterThan(1000);
    expect(pixels.countDrawn(0, 0, 8, height) + pixels.countDrawn(width - 8, 0, width, height)).toBe(0);
    expect(pixels.countDrawn(0, height - 8, width, height)).toBe(0);
  });
});

it('a timeline has no transparent element with both fill and stroke', async () => {
  // Rendering such an element takes a buffer as large as the figure (src/figures/timeline.ts).
  const elements = elementsOf(await svgOf(drawTimeline({ episode: WHOLE }))).map(
    ({ attributes }) => attributes,
  );
  const isPainted = (paint: string | undefined): boolean => paint !== undefined && paint !== 'none';
  const filledAndStroked = elements.filter(({ fill, stroke }) => isPainted(fill) && isPainted(stroke));
  // At least a square for each action and a bar for each reward.
  expect(filledAndStroked.length).toBeGreaterThanOrEqual(2 * NUM_STEPS);
  expect(filledAndStroked.filter(({ opacity = '1' }) => Number(opacity) < 1)).toEqual([]);
});

it('a timeline has a description in words', () => {
  const { description } = drawTimeline({ episode: WHOLE });
  expect(description).toContain('Actions: day 1 sleep, deep_work, socialize, exercise; day 2 ');
  expect(description).toMatch(/At the end vitality \d\.\d\d, cognition/);
  expect(description).toMatch(
    /Last belief: social 0\.25, morning 0\.50, work 0\.96\. Target: social 0\.\d\d/,
  );
  const step = Array.from(WHOLE.events).findIndex((event) => event >= 0);
  const slot = ['morning', 'afternoon', 'evening', 'night'][step % 4];
  const event = `${EVENT_NAMES[WHOLE.events[step]]} on the ${slot} of day ${1 + Math.floor(step / 4)}`;
  expect(description).toContain(`Events: ${event}`);
  expect(drawTimeline({ episode: playedTimeline(0) }).description).toContain(
    'No step was taken. Events: none.',
  );
  expect(drawTimeline({ episode: WITHOUT_BELIEFS }).description).toContain('No belief was stated.');
});
