/** One week as a timeline: whole or begun, with and without beliefs and truth; events that do not cover each other. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InputError } from '../src/errors.js';
import { pngOf } from '../src/pictures/png.js';
import { svgOf } from '../src/pictures/svg.js';
import { ACTION_FACES } from '../src/pictures/tapes.js';
import { drawTimeline } from '../src/pictures/timeline.js';
import type { TimelineWeek } from '../src/pictures/timeline-week.js';
import { Episode } from '../src/reference/episode.js';
import { BELIEF_NAMES, EVENT_NAMES, METER_NAMES, NUM_STEPS } from '../src/world/fields.js';
import { elementsOf, ODD_NAME, Pixels, textsOf } from './support/pictures.js';

/** Vega reports what is wrong with a specification as warnings. */
const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockClear());
afterEach(() => expect(warn).not.toHaveBeenCalled());

/** Seed 3's first steps by a fixed tape; every fifth without a belief. */
function livedWeek(steps: number): Required<TimelineWeek> {
  const episode = new Episode();
  const { target } = episode.reset(3);
  const week = { meters: [...episode.meters], actions: [], events: [], rewards: [], beliefs: [] } as Record<
    'meters' | 'actions' | 'events' | 'rewards' | 'beliefs',
    number[]
  >;
  for (let step = 0; step < steps; step++) {
    const action = (step * 7 + 3) % 10;
    const given = step % 5 !== 4;
    episode.step(action, given ? [0.25, 0.5, step / NUM_STEPS] : undefined);
    week.actions.push(action);
    week.meters.push(...episode.meters);
    week.events.push(episode.event);
    week.rewards.push(episode.reward);
    week.beliefs.push(...(given ? [0.25, 0.5, step / NUM_STEPS] : [Number.NaN, Number.NaN, Number.NaN]));
  }
  return { ...week, target: [...target] };
}

const WHOLE = livedWeek(NUM_STEPS);
const { target: _, ...WITHOUT_TRUTH } = WHOLE;
const { beliefs: __, ...SILENT } = livedWeek(9);
const WEEKS: [name: string, week: TimelineWeek][] = [
  ['a whole week', WHOLE],
  ['without the truth', WITHOUT_TRUTH],
  ['nine steps without beliefs', SILENT],
  ['nothing yet', livedWeek(0)],
  [
    'an event in every slot',
    { ...WHOLE, events: Array.from(WHOLE.events, (_, step) => step % EVENT_NAMES.length) },
  ],
];

describe.each(WEEKS)('%s', (_name, week) => {
  const drawing = drawTimeline({ title: ODD_NAME, notes: ['a note'], week });

  it('is well-formed, and shows meters, actions, events and days', async () => {
    const svg = await svgOf(drawing);
    const [root, title] = elementsOf(svg);
    expect([root.attributes.role, title.text]).toEqual(['img', ODD_NAME.replace('\u0007', '?')]);
    expect(svg).not.toMatch(/NaN|undefined|\sid=|url\(|href=|<script/);
    expect(svg).toContain('a note</tspan>');
    const texts = textsOf(svg);
    for (const text of [...METER_NAMES, 'actions', 'events', 'reward', 'day 1', 'day 7']) {
      expect(texts).toContain(text);
    }
    const marks = ACTION_FACES.map(({ mark }) => mark);
    expect(texts.filter((text) => marks.includes(text))).toEqual(
      Array.from(week.actions, (action) => ACTION_FACES[action].mark),
    );
    const events = EVENT_NAMES.map((event) => event.replaceAll('_', ' '));
    expect(texts.filter((text) => events.includes(text))).toHaveLength(
      Array.from(week.events).filter((event) => event >= 0).length,
    );
    for (const belief of BELIEF_NAMES) expect(texts.includes(belief)).toBe(week.beliefs !== undefined);
  });

  it('leaves its margin free: nothing is cut off', async () => {
    const pixels = new Pixels(await pngOf(await svgOf(drawing)));
    const [width, height] = pixels.size;
    expect(pixels.drawn(28, 28, 300, 64)).toBeGreaterThan(1000);
    expect(pixels.drawn(0, 0, 8, height) + pixels.drawn(width - 8, 0, width, height)).toBe(0);
    expect(pixels.drawn(0, height - 8, width, height)).toBe(0);
  });
});

it('has no element that must be drawn apart, and laid on the picture then: that takes longer than all others', async () => {
  const see = elementsOf(await svgOf(drawTimeline({ week: WHOLE }))).map(({ attributes }) => attributes);
  const isSeen = (paint: string | undefined): boolean => paint !== undefined && paint !== 'none';
  const filledAndStroked = see.filter(({ fill, stroke }) => isSeen(fill) && isSeen(stroke));
  expect(filledAndStroked.length).toBeGreaterThan(2 * NUM_STEPS - 1);
  expect(filledAndStroked.filter(({ opacity = '1' }) => Number(opacity) < 1)).toEqual([]);
});

it('is told in words', () => {
  const { description } = drawTimeline({ week: WHOLE });
  expect(description).toContain('Actions: day 1 sleep, deep_work, socialize, exercise; day 2 ');
  expect(description).toMatch(/In the end vitality \d\.\d\d, cognition/);
  expect(description).toMatch(
    /Last belief: social 0\.25, morning 0\.50, work 0\.96\. The truth: social 0\.\d\d/,
  );
  const events = Array.from(WHOLE.events, (event, step) => ({ event, step })).filter(
    ({ event }) => event >= 0,
  );
  const [{ event, step }] = events;
  const slot = ['morning', 'afternoon', 'evening', 'night'][step % 4];
  expect(description).toContain(`Events: ${EVENT_NAMES[event]} on the ${slot} of day ${1 + (step >> 2)}`);
  expect(drawTimeline({ week: livedWeek(0) }).description).toContain('No step was taken. Events: none.');
  expect(drawTimeline({ week: SILENT }).description).toContain('No belief was given.');
});

it.each<[name: string, change: Partial<Record<keyof TimelineWeek, unknown>>, code: string, mention: string]>([
  ['code 10', { actions: [10, ...(WHOLE.actions as number[])].slice(0, 28) }, 'illegal_action', 'actions[0]'],
  ['29 steps', { actions: new Array(29).fill(1) }, 'wrong_length', '28 numbers in actions'],
  ['no actions', { actions: undefined }, 'wrong_type', 'actions'],
  ['meters before steps alone', { meters: new Array(140).fill(0) }, 'wrong_length', '145 numbers in meters'],
  ['an event that is none', { events: new Array(28).fill(5) }, 'out_of_range', 'events[0]'],
  ['a reward that is none', { rewards: new Array(28).fill(Number.NaN) }, 'out_of_range', 'rewards[0]'],
  ['half a belief', { beliefs: [Number.NaN, ...new Array(83).fill(0)] }, 'out_of_range', 'beliefs[0][0]'],
  ['short beliefs', { beliefs: [0, 0, 0] }, 'wrong_length', '84 numbers in beliefs'],
  ['a truth of two', { target: [0, 1] }, 'wrong_length', '3 numbers in target'],
])('%s is refused', (_name, change, code, mention) => {
  let refusal: unknown;
  try {
    drawTimeline({ week: { ...WHOLE, ...change } as TimelineWeek });
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(InputError);
  expect(refusal).toMatchObject({ code, message: expect.stringContaining(mention) });
});
