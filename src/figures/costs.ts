/** Figure: the cost of an episode of each player, in tokens and dollars. */
import { type Caption, checkNames, checkNumber, type Drawing, type Named } from './figure.js';
import { BAR_NAMES, COMPONENT_COLOURS, SERIES, type TopView, type View } from './theme.js';

/** The cost of one player. */
export interface CostRow extends Named {
  /** Mean tokens of an episode; null if not recorded. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Mean dollars of an episode; null if not recorded. */
  readonly cost: number | null;
}

/** The data of the figure. */
export interface CostsPicture extends Caption {
  /** In order from the top. */
  readonly rows: readonly CostRow[];
}

/** Sizes in pixels, chosen by hand. The chart of tokens has this width, the chart of dollars half of it. */
const WIDTH = 300;
const ROW_HEIGHT = 26;

/**
 * Draws bars for prompt tokens, completion tokens and, if recorded, dollars of an episode.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawCosts(picture: CostsPicture): Drawing {
  const { rows, title = 'Cost of an episode', notes = [] } = picture;
  checkNames('rows', rows);
  for (const { name, promptTokens, completionTokens, cost } of rows) {
    for (const amount of [promptTokens, completionTokens, cost])
      checkNumber(`a cost of "${name}"`, amount ?? 0);
  }
  const hasDollars = rows.some(({ cost }) => cost !== null);
  const spec: TopView = {
    title: { text: title, subtitle: ['Means over the episodes with recorded usage.', ...notes] },
    hconcat: [tokensView(rows), ...(hasDollars ? [dollarsView(rows)] : [])],
    spacing: 90,
  };
  return { title, description: rows.map(inWords).join(' '), spec };
}

/** The colours of prompt tokens and of completion tokens. */
const [, PROMPTS, , COMPLETIONS] = COMPONENT_COLOURS;

function tokensView(rows: readonly CostRow[]): View {
  const values = rows.flatMap(({ name, promptTokens, completionTokens }) => [
    { name, kind: 'prompts', order: 0, tokens: promptTokens ?? 0 },
    { name, kind: 'completions', order: 1, tokens: completionTokens ?? 0 },
  ]);
  return {
    width: WIDTH,
    height: { step: ROW_HEIGHT },
    data: { values },
    mark: { type: 'bar' },
    encoding: {
      y: { ...BAR_NAMES, sort: rows.map(({ name }) => name) },
      x: {
        field: 'tokens',
        type: 'quantitative',
        axis: { title: 'tokens per episode', tickCount: 4, format: '~s', labelFlush: false },
      },
      order: { field: 'order', type: 'ordinal' },
      color: {
        field: 'kind',
        type: 'nominal',
        sort: null,
        scale: { domain: ['prompts', 'completions'], range: [PROMPTS, COMPLETIONS] },
        legend: { orient: 'bottom' },
      },
    },
  };
}

function dollarsView(rows: readonly CostRow[]): View {
  const values = rows.map(({ name, cost }) => ({ name, cost: cost ?? 0, label: dollarsText(cost) }));
  const y = { ...BAR_NAMES, axis: null, sort: rows.map(({ name }) => name) } as const;
  const axis = { title: 'dollars per episode', tickCount: 4, labelFlush: false };
  const x = { field: 'cost', type: 'quantitative', axis } as const;
  return {
    width: WIDTH / 2,
    height: { step: ROW_HEIGHT },
    data: { values },
    encoding: { y },
    layer: [
      { mark: { type: 'bar', color: SERIES }, encoding: { x } },
      {
        mark: { type: 'text', align: 'left', x: WIDTH / 2 + 10 },
        encoding: { text: { field: 'label', type: 'nominal' } },
      },
    ],
  };
}

/** Formats dollars with four significant digits, because an episode may cost a fraction of a cent. */
export const dollarsText = (cost: number | null): string =>
  cost === null ? '–' : `$${cost === 0 ? '0' : Number(cost.toPrecision(4))}`;

function inWords({ name, promptTokens, completionTokens, cost }: CostRow): string {
  const countText = (amount: number | null): string =>
    amount === null ? 'unknown' : Math.round(amount).toLocaleString('en');
  return `${name}: ${countText(promptTokens)} prompt tokens, ${countText(completionTokens)} completion tokens, ${dollarsText(cost)}.`;
}
