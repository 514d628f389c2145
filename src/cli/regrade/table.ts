/** Stored episodes under another grader, as tables for people. */
import { decimals, intervalText } from '../../evaluate/figures.js';
import type { Regraded, RegradedCondition } from '../../evaluate/regraded.js';
import type { Flip, WeightSensitivity } from '../../evaluate/sensitivity.js';
import { renderRows, rowNotes, weightsLine } from '../eval/table.js';
import { type Alignment, COMPONENT_HEADS, renderColumns } from '../table.js';

/** The rows of an evaluation; then, of each condition, the ranking and what each weight does to it. */
export function renderRegraded({ grader, graderWeights, rows, conditions }: Regraded): string {
  const episodes = rows.reduce((sum, row) => sum + row.episodes, 0);
  return [
    `${episodes} stored episodes, none played; grader ${grader}`,
    weightsLine(grader, graderWeights),
    `${renderRows(rows, grader)}\n`,
    ...conditions.map((condition) => `${renderRanking(condition)}\n`),
    ...rowNotes(rows, grader),
    'lead: the mean of paired differences; right of it, what 1 more of each weight adds, the others as they are.',
    'at: the nearest weights at which two change places; the other five keep their proportions, all six sum to 1.',
    '',
  ].join('\n');
}

function renderRanking(condition: RegradedCondition): string {
  const leads = renderLeads(condition);
  return condition.standings.length < 2 ? leads : `${leads}\n\n${renderFlips(condition.sensitivity)}`;
}

function renderLeads({ condition, standings, sensitivity }: RegradedCondition): string {
  const heads = sensitivity.map(({ component }) => COMPONENT_HEADS[component]);
  const rows = standings.map(({ policy, finalScore, lead }, place) => [
    policy,
    intervalText(finalScore),
    ...(lead === null
      ? ['-', ...heads.map(() => '-')]
      : [intervalText(lead), ...sensitivity.map(({ leads }) => signed(leads[place].slope.mean))]),
  ]);
  return renderColumns(
    [`${condition}:\nranking`, 'final score\n(95 %)', 'lead over the\nnext (95 %)', ...heads],
    ['left', 'right', 'right', ...heads.map((): Alignment => 'right')],
    rows,
  );
}

/** With a sign, unless it is next to nothing. */
function signed(value: number): string {
  const text = decimals(value);
  return Number(text) > 0 ? `+${text}` : text;
}

function renderFlips(sensitivity: readonly WeightSensitivity[]): string {
  const rows = sensitivity.flatMap(({ component, weight, below, above }) => {
    const flips = [below, above].filter((flip) => flip !== null);
    const first = [component, decimals(weight)];
    if (flips.length === 0) return [[...first, '-', 'no weight changes the ranking']];
    return flips.map((flip, i) => [...(i === 0 ? first : ['', '']), decimals(flip.weight), passing(flip)]);
  });
  return renderColumns(['weight of', 'now', 'at', ''], ['left', 'right', 'right', 'left'], rows);
}

const passing = ({ policy, passed }: Flip): string => `${policy} passes ${passed}`;
