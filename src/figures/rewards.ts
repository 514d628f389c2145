/** Figure: the mean reward of each step and of each half. Shows which policies neglect the first half. */
import { NUM_STEPS } from '../world/fields.js';
import { dayOf, HALVES, inDays, SECOND_HALF_SHADE } from './episode-axis.js';
import type { StepRewards } from './episode-means.js';
import { type Caption, checkNames, checkNumber, checkNumbers, type Drawing, type Named } from './figure.js';
import { ACCENT, decimal, type Layer, LIGHT, SERIES, type TopView, widestOf } from './theme.js';

/** The data of the figure. */
export interface RewardsPicture extends Caption {
  /** In the order of the panels, from the top left. `stepRewardsOf` computes the rewards. */
  readonly rows: readonly (Named & { readonly rewards: StepRewards })[];
}

type Row = RewardsPicture['rows'][number];

// The layout is chosen by hand.

/** The smallest width and the height of a panel, in pixels. */
const MIN_WIDTH = 220;
const PANEL_HEIGHT = 110;
/** The largest number of panels side by side. */
const COLUMNS = 3;

/**
 * Draws bars for the steps and a line for the mean of each half, and shades the second half.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawRewards(picture: RewardsPicture): Drawing {
  const { rows, title = 'Rewards over the week', notes = [] } = picture;
  checkNames('rows', rows);
  rows.forEach(checkRewards);
  const caption =
    'Mean reward of each step (bars) and of each half (lines), without noise and grade. Shaded: the second half.';
  // A name is above its panel and must not extend over the next one.
  const width = Math.max(MIN_WIDTH, widestOf(rows.map(({ name }) => name)));
  const spec: TopView = {
    title: { text: title, subtitle: [caption, ...notes] },
    data: { values: rows.flatMap((row) => [...barsOf(row), ...meansOf(row)]) },
    facet: {
      field: 'name',
      sort: rows.map(({ name }) => name),
      // The padding leaves room for LABELS, above the panel.
      header: { title: null, labelAnchor: 'start', labelPadding: 14 },
    },
    columns: Math.min(COLUMNS, rows.length),
    spacing: { row: 16, column: 22 },
    spec: { width, height: PANEL_HEIGHT, layer: [SECOND_HALF_SHADE, BARS, ZERO, MEANS, LABELS] },
    // Draws an x axis below each panel. Shared axes would be only below the last row, even in columns where that row has no
    // panel.
    resolve: { axis: { x: 'independent' } },
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

function checkRewards({ name, rewards }: Row): void {
  checkNumbers(`the rewards of "${name}"`, rewards.steps, NUM_STEPS, 'steps of an episode');
  for (const { half, title } of HALVES) checkNumber(`the ${title} mean of "${name}"`, rewards[half]);
}

const barsOf = ({ name, rewards }: Row) =>
  Array.from(rewards.steps, (reward, step) => ({
    kind: 'step',
    name,
    from: dayOf(step),
    to: dayOf(step + 1),
    reward,
  }));

const meansOf = ({ name, rewards }: Row) =>
  HALVES.map(({ half, title, from, to }) => ({
    kind: 'half',
    name,
    from,
    to,
    middle: (from + to) / 2,
    reward: rewards[half],
    label: `${title}, mean ${decimal(rewards[half], 2)}`,
  }));

const SPAN = { x: inDays('from'), x2: { field: 'to' } } as const;
const REWARD = {
  field: 'reward',
  type: 'quantitative',
  axis: { title: 'reward', tickCount: 5 },
} as const;

const ofKind = (kind: string) => [{ filter: { field: 'kind', equal: kind } }];

const BARS: Layer = {
  transform: ofKind('step'),
  mark: { type: 'rect', color: SERIES, opacity: 0.6, stroke: LIGHT.paper, strokeWidth: 1 },
  encoding: { ...SPAN, y: REWARD, y2: { datum: 0 } },
};

const ZERO: Layer = {
  data: { values: [{ zero: 0 }] },
  mark: { type: 'rule', color: LIGHT.muted },
  encoding: { y: { ...REWARD, field: 'zero' } },
};

const MEANS: Layer = {
  transform: ofKind('half'),
  mark: { type: 'rule', color: ACCENT, strokeWidth: 2.5 },
  encoding: { ...SPAN, y: REWARD },
};

const LABELS: Layer = {
  transform: ofKind('half'),
  mark: { type: 'text', y: -4, baseline: 'bottom', fontSize: 10, color: LIGHT.muted },
  encoding: { x: inDays('middle'), text: { field: 'label', type: 'nominal' } },
};

const inWords = ({ name, rewards: { firstHalf, secondHalf } }: Row): string =>
  `${name}: mean reward ${decimal(firstHalf, 3)} in the first half, ${decimal(secondHalf, 3)} in the second.`;
