/** Pictures of weeks that were really lived, and looking into them. */
import { PNG } from 'pngjs';
import { SaxesParser } from 'saxes';
import { drawActions } from '../../src/pictures/actions.js';
import { drawBands } from '../../src/pictures/bands.js';
import { drawBeliefError } from '../../src/pictures/belief-error.js';
import { drawCalibration } from '../../src/pictures/calibration.js';
import { drawComponents } from '../../src/pictures/components.js';
import { drawCosts } from '../../src/pictures/costs.js';
import type { Drawing } from '../../src/pictures/drawing.js';
import { bandsOf } from '../../src/pictures/percentiles.js';
import { drawPrices } from '../../src/pictures/prices.js';
import { drawRewards } from '../../src/pictures/rewards.js';
import { drawScores } from '../../src/pictures/scores.js';
import { stepRewardsOf } from '../../src/pictures/step-rewards.js';
import { drawTapes } from '../../src/pictures/tapes.js';
import type { RunChoice } from '../../src/vec-env/requests.js';
import { createVecEnv } from '../../src/vec-env.js';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_STEPS,
} from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/spec.js';

export const NUM_ENVS = 20;
const tape = Uint8Array.from({ length: NUM_STEPS }, (_, step) => step % ACTION_NAMES.length);
const tapes = Uint8Array.from({ length: NUM_ENVS * NUM_STEPS }, (_, k) => tape[k % NUM_STEPS]);

/** A run of whole weeks from seed 100, with what belongs to it. */
export function lived(choice: RunChoice) {
  const env = createVecEnv({ numEnvs: NUM_ENVS, backend: 'reference', copy: true });
  env.reset({ seed: 100 });
  const { trajectory, finalScores, components } = env.run(choice, { trajectory: true });
  env.close();
  return { ...trajectory!, finalScores, components, seeds: env.seeds };
}

/** Names as they may come: what XML, Vega's expressions and a careless layout would stumble over. */
export const ODD_NAME = `a "very" long <name> & it's\\ {datum.x} [1] \u0007 ${'of a model '.repeat(6)}!`;
const runs = { 'a blind tape': lived(tapes), heuristic: lived('heuristic'), [ODD_NAME]: lived('random') };
const rows = Object.entries(runs);
export const ROW_NAMES: readonly string[] = Object.keys(runs);

const gains = [
  { mean: -0.05, low: -0.06, high: -0.04 },
  { mean: 0.12, low: 0.11, high: 0.13 },
  { mean: 0.03, low: null, high: null },
];

const falling = (constant: number) => {
  const mean = Array.from({ length: NUM_STEPS }, (_, step) => constant / (step + 1));
  return { mean, low: mean.map((each) => each / 2), high: mean, constant };
};
const CALIBRATION = {
  bins: [
    { range: 1, said: 0.125, truth: 0.25, count: 1 },
    { range: 9, said: 1, truth: 1, count: 2 },
  ],
  ...{ count: 3, correlation: 0.5, mae: 0.125 },
};

/** Every picture of rows, and names that it must show. */
export const PICTURES: readonly [kind: string, drawing: Drawing, names: readonly string[]][] = [
  [
    'tapes',
    drawTapes({ rows: rows.map(([name, { actions }]) => ({ name, actions: actions.slice(0, NUM_STEPS) })) }),
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
    'prices',
    drawPrices({ baseline: 'heuristic', rows: rows.map(([name], k) => ({ name, gain: gains[k] })) }),
    ['+0.120 [+0.110, +0.130]', '−0.050 [−0.060, −0.040]', '+0.030'],
  ],
  [
    'components',
    drawComponents({
      rows: rows.map(([name, { components }]) => ({
        name,
        parts: RHYTHM.graders.v2.map((weight, k) => weight * components[k]),
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
          score: gains[k],
          published: k === 1 ? 0.2 : undefined,
        })),
      })),
    }),
    ['in-distribution', 'final score', '0.120 ±0.010', '0.030'],
  ],
  [
    'belief error',
    drawBeliefError({ rows: rows.map(([name], k) => ({ name, errors: falling(0.1 * (k + 1)) })) }),
    ['days', 'mean absolute error'],
  ],
  [
    'actions',
    drawActions({
      groups: rows.map(([name]) => ({
        name,
        rows: [{ name: 'everybody (3)', shares: ACTION_NAMES.map((_, k) => k / 45) }],
      })),
    }),
    [...ACTION_NAMES, 'everybody (3)', '2', '20'],
  ],
  [
    'calibration',
    drawCalibration({
      rows: rows.map(([name]) => ({ name, dimensions: BELIEF_NAMES.map(() => CALIBRATION) })),
    }),
    [...BELIEF_NAMES, 'said', 'true', 'r 0.50, MAE 0.125, 3 weeks'],
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
  /** Its own, without its children's. */
  text: string;
}

/** The elements of a document in their order. @throws Error for XML that is not well-formed. */
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

/** What stands in the texts of an SVG, one entry each. */
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

  /** "#rrggbb". */
  at(x: number, y: number): string {
    const start = (y * this.#png.width + x) * 4;
    return `#${this.#png.data.subarray(start, start + 3).toString('hex')}`;
  }

  /** How many pixels of a rectangle, ends excluded, are not of the background. */
  drawn(left: number, top: number, right: number, bottom: number): number {
    const { data, width } = this.#png;
    const colours = new Int32Array(data.buffer, data.byteOffset, data.length / 4);
    let count = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) if (colours[y * width + x] !== colours[0]) count++;
    }
    return count;
  }
}
