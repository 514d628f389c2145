/** Draws figures of played episodes, and parses SVG and PNG. */
import { PNG } from 'pngjs';
import { SaxesParser } from 'saxes';
import { createVecEnv } from '../../src/engine/node.js';
import { Episode } from '../../src/engine/reference/episode.js';
import type { RunChoice } from '../../src/engine/vec-env/runs.js';
import { drawActionSequences } from '../../src/figures/action-sequences.js';
import { drawActions } from '../../src/figures/action-shares.js';
import { drawBeliefError } from '../../src/figures/belief-error.js';
import { drawCalibration } from '../../src/figures/calibration.js';
import { drawComponents } from '../../src/figures/components.js';
import { drawCosts } from '../../src/figures/costs.js';
import { bandsOf, stepRewardsOf } from '../../src/figures/episode-means.js';
import type { Drawing } from '../../src/figures/figure.js';
import { drawGains } from '../../src/figures/gains.js';
import { drawBands } from '../../src/figures/meter-bands.js';
import { drawRewards } from '../../src/figures/rewards.js';
import { drawScores } from '../../src/figures/scores.js';
import { svgOf } from '../../src/figures/svg.js';
import type { TimelineEpisode } from '../../src/figures/timeline-episode.js';
import { drawTrainingCurves } from '../../src/figures/training-curves.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_STEPS,
} from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';

/** The number of episodes of each run. */
export const NUM_ENVS = 20;
const sequence = Uint8Array.from({ length: NUM_STEPS }, (_, step) => step % ACTION_NAMES.length);
const sequences = Uint8Array.from({ length: NUM_ENVS * NUM_STEPS }, (_, k) => sequence[k % NUM_STEPS]);

/** Plays whole episodes from seed 100. Returns the run with its seeds. */
export function playedRun(choice: RunChoice) {
  const env = createVecEnv({ numEnvs: NUM_ENVS, backend: 'reference', copy: true });
  env.reset({ seed: 100 });
  const { trajectory, finalScores, components } = env.run(choice, { trajectory: true });
  env.close();
  return { ...trajectory!, finalScores, components, seeds: env.seeds };
}

/** Plays the first steps of seed 3 with fixed actions, for a timeline. Every fifth step states no belief. */
export function playedTimeline(steps: number): Required<TimelineEpisode> {
  const episode = new Episode();
  const { target } = episode.reset(3);
  const [actions, events, rewards, beliefs]: number[][] = [[], [], [], []];
  const meters = [...episode.meters];
  for (let step = 0; step < steps; step++) {
    const action = (step * 7 + 3) % 10;
    const belief = step % 5 !== 4 ? [0.25, 0.5, step / NUM_STEPS] : undefined;
    episode.step(action, belief);
    actions.push(action);
    meters.push(...episode.meters);
    events.push(episode.event);
    rewards.push(episode.reward);
    beliefs.push(...(belief ?? [Number.NaN, Number.NaN, Number.NaN]));
  }
  return { meters, actions, events, rewards, beliefs, target: [...target] };
}

/** A long name with characters that are special in XML and in Vega expressions. */
export const ODD_NAME = `a "very" long <name> & it's\\ {datum.x} [1] \u0007 ${'of a model '.repeat(6)}!`;
const runs = {
  'an open-loop sequence': playedRun(sequences),
  heuristic: playedRun('heuristic'),
  [ODD_NAME]: playedRun('random'),
};
const rows = Object.entries(runs);
export const ROW_NAMES: readonly string[] = Object.keys(runs);

/** Means with intervals, for figures of gains and of scores. The last mean has no interval. */
const intervals = [
  { mean: -0.05, low: -0.06, high: -0.04 },
  { mean: 0.12, low: 0.11, high: 0.13 },
  { mean: 0.03, low: null, high: null },
];

const fallingErrors = (constant: number) => {
  const mean = Array.from({ length: NUM_STEPS }, (_, step) => constant / (step + 1));
  return { mean, low: mean.map((error) => error / 2), high: mean, constant };
};
const CALIBRATION = {
  bins: [
    { range: 1, belief: 0.125, target: 0.25, count: 1 },
    { range: 9, belief: 1, target: 1, count: 2 },
  ],
  count: 3,
  correlation: 0.5,
  mae: 0.125,
};

const CACHES = { auto: new Map(), light: new Map(), dark: new Map() } as const;
/** Renders a drawing as SVG at the first call, and returns the same text afterwards. */
export function svgOnce(drawing: Drawing, theme: keyof typeof CACHES = 'auto'): Promise<string> {
  const renderings: Map<Drawing, Promise<string>> = CACHES[theme];
  if (!renderings.has(drawing)) renderings.set(drawing, svgOf(drawing, { theme }));
  return renderings.get(drawing)!;
}

/** A figure of each kind, and labels that it must show. Histograms and timelines have their own tests. */
export const PICTURES: readonly [kind: string, drawing: Drawing, names: readonly string[]][] = [
  [
    'action-sequences',
    drawActionSequences({
      rows: rows.map(([name, { actions }]) => ({ name, actions: actions.slice(0, NUM_STEPS) })),
    }),
    [...ACTION_NAMES, ...RHYTHM.categories],
  ],
  [
    'bands',
    drawBands({ rows: rows.map(([name, { meters }]) => ({ name, bands: bandsOf(meters) })) }),
    METER_NAMES,
  ],
  [
    'rewards',
    drawRewards({ rows: rows.map(([name, run]) => ({ name, rewards: stepRewardsOf(run) })) }),
    ['days'],
  ],
  [
    'gains',
    drawGains({ baseline: 'heuristic', rows: rows.map(([name], k) => ({ name, gain: intervals[k] })) }),
    ['+0.120 [+0.110, +0.130]', '−0.050 [−0.060, −0.040]', '+0.030'],
  ],
  [
    'components',
    drawComponents({
      // The last part of the second row is negative.
      rows: rows.map(([name, { components }], row) => ({
        name,
        parts: RHYTHM.graders.v3.map(
          (weight, k) => weight * (components[k] - (row === 1 && k === 7 ? 0.4 : 0)),
        ),
      })),
    }),
    COMPONENT_NAMES,
  ],
  [
    'scores',
    drawScores({
      groups: ['in-distribution', ODD_NAME].map((name) => ({
        name,
        rows: rows.map(([policy], k) => ({
          name: policy,
          score: intervals[k],
          published: k === 1 ? 0.2 : undefined,
        })),
      })),
    }),
    ['in-distribution', 'final score', '0.120 ±0.010', '0.030'],
  ],
  [
    'belief error',
    drawBeliefError({ rows: rows.map(([name], k) => ({ name, errors: fallingErrors(0.1 * (k + 1)) })) }),
    ['days', 'mean absolute error'],
  ],
  [
    'actions',
    drawActions({
      players: rows.map(([name]) => ({
        name,
        rows: [{ name: 'everybody (3)', shares: ACTION_NAMES.map((_, k) => k / 45) }],
      })),
    }),
    [...ACTION_NAMES, 'everybody (3)', '2', '20'],
  ],
  [
    'training curves',
    drawTrainingCurves({
      notes: ['Means over three trainings, with 95 % intervals.'],
      curves: rows.map(([name], k) => ({
        name,
        unit: 'epochs',
        points: [1, 2, 3].map((x) => {
          const y = 0.5 + (k + 1) * 0.1 * x;
          return k === 0 ? { x, y, low: y - 0.1, high: y + 0.1 } : { x, y };
        }),
      })),
    }),
    ['epochs', '3.0'],
  ],
  [
    'calibration',
    drawCalibration({
      rows: rows.map(([name]) => ({ name, dimensions: BELIEF_NAMES.map(() => CALIBRATION) })),
    }),
    [...BELIEF_NAMES, 'last belief', 'target', 'r 0.50, MAE 0.125, 3 episodes'],
  ],
  [
    'costs',
    drawCosts({
      rows: rows.map(([name], k) => ({
        name,
        promptTokens: 20000,
        completionTokens: 500,
        cost: k === 0 ? null : 0.012345,
      })),
    }),
    ['tokens per episode', 'dollars per episode', 'prompts', 'completions', '$0.01235', '–'],
  ],
];

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The element's text without the text of its children. */
  text: string;
}

/** Returns the elements of a document in order. @throws Error for XML that is not well-formed. */
export function elementsOf(xml: string): Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: '' };
    elements.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    if (open.length > 0) open[open.length - 1].text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return elements;
}

/** Returns the contents of the text elements of an SVG. */
export const textsOf = (svg: string): string[] =>
  elementsOf(svg)
    .filter(({ name }) => name === 'text')
    .map(({ text }) => text);

/** A decoded PNG. */
export class Pixels {
  readonly #png: PNG;

  constructor(bytes: Uint8Array) {
    this.#png = PNG.sync.read(Buffer.from(bytes));
  }

  get size(): [width: number, height: number] {
    return [this.#png.width, this.#png.height];
  }

  /** Returns the colour of a pixel as "#rrggbb". */
  at(x: number, y: number): string {
    const start = (y * this.#png.width + x) * 4;
    return `#${this.#png.data.subarray(start, start + 3).toString('hex')}`;
  }

  /** Counts the pixels of a rectangle that differ from the background. `right` and `bottom` are outside of it. */
  countDrawn(left: number, top: number, right: number, bottom: number): number {
    const { data, width } = this.#png;
    const colours = new Int32Array(data.buffer, data.byteOffset, data.length / 4);
    let count = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) if (colours[y * width + x] !== colours[0]) count++;
    }
    return count;
  }
}
