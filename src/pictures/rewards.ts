/** The reward of each step, and the means of the halves: a policy that neglects the first days to shine later is seen. */
import { NUM_STEPS } from '../world/fields.js';
import { checkNames, checkNumber, checkNumbers, type Named } from './check.js';
import type { Caption, Drawing } from './drawing.js';
import { decimal } from './numbers.js';
import type { StepRewards } from './step-rewards.js';
import { widestOf } from './text-width.js';
import { ACCENT, LIGHT, SERIES } from './theme.js';
import type { Layer, TopView } from './view.js';
import { dayOf, HALVES, inDays, LATE_SHADE } from './week.js';

export interface RewardsPicture extends Caption {
  /** From the top left; rewards as `stepRewardsOf` makes them. */
  readonly rows: readonly (Named & { readonly rewards: StepRewards })[];
}

type Row = RewardsPicture['rows'][number];

const LEAST_WIDTH = 220;
const PANEL_HEIGHT = 110;
const COLUMNS = 3;

/**
 * Bars for the steps, a line for the mean of each half, the late half shaded.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for rows that are none.
 */
export function drawRewards(picture: RewardsPicture): Drawing {
  const { rows, title = 'Rewards over the week', notes = [] } = picture;
  checkNames('rows', rows);
  rows.forEach(checkRewards);
  const caption =
    'Mean reward of each step (bars) and of each half (lines), without luck and grade. Shaded: the late half.';
  // A name stands above its panel, and must not reach the next.
  const width = Math.max(LEAST_WIDTH, widestOf(rows.map(({ name }) => name)));
  const spec: TopView = {
    title: { text: title, subtitle: [caption, ...notes] },
    data: { values: rows.flatMap((row) => [...barsOf(row), ...meansOf(row)]) },
    facet: {
      field: 'name',
      sort: rows.map(({ name }) => name),
      header: { title: null, labelAnchor: 'start', labelPadding: 14 },
    },
    columns: Math.min(COLUMNS, rows.length),
    spacing: { row: 16, column: 22 },
    spec: { width, height: PANEL_HEIGHT, layer: [LATE_SHADE, BARS, ZERO, MEANS, LABELS] },
    // Else the last row's empty places have axes, and panels above them none.
    resolve: { axis: { x: 'independent' } },
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

function checkRewards({ name, rewards }: Row): void {
  checkNumbers(`the rewards of "${name}"`, rewards.steps, NUM_STEPS, 'steps of a week');
  for (const { half } of HALVES) checkNumber(`the ${half} mean of "${name}"`, rewards[half]);
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
  HALVES.map(({ half, from, to }) => ({
    kind: 'half',
    name,
    from,
    to,
    middle: (from + to) / 2,
    reward: rewards[half],
    label: `${half}, mean ${decimal(rewards[half], 2)}`,
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

const inWords = ({ name, rewards: { early, late } }: Row): string =>
  `${name}: mean reward ${decimal(early, 3)} early, ${decimal(late, 3)} late.`;
