/** Renders the results of `rhythm-vec regrade` as text tables. */
import { alignedInterval, decimals } from '../../evaluation/format-results.js';
import type { Regraded, RegradedCondition } from '../../evaluation/regrade-stored.js';
import type { Flip, WeightSensitivity } from '../../evaluation/weight-sensitivity.js';
import { scoresOf, yardstickNotes, yardsticksOf } from '../../evaluation/yardstick.js';
import { createWorld } from '../../world/world.js';
import { renderRows, rowNotes, weightsLine } from '../eval/eval-table.js';
import { type Alignment, COMPONENT_HEADS, renderColumns, wrap } from '../text-table.js';

/** Renders the rows of an evaluation, then each condition's ranking and the effect of each weight on it, then notes. */
export function renderRegraded(regraded: Regraded): string {
  const { grader, graderWeights, rows, conditions } = regraded;
  const episodes = rows.reduce((sum, row) => sum + row.episodes, 0);
  return [
    `${episodes} stored episodes, not played again; grader ${grader}`,
    weightsLine(grader, graderWeights),
    `${renderRows(rows, grader)}\n`,
    ...conditions.map((condition) => `${renderRanking(condition)}\n`),
    ...rowNotes(rows, grader),
    ...yardstickNotes(yardsticksOf(scoresOf(rows, regraded, false), createWorld().digest)).map(wrap),
    'lead: the mean of paired differences. The columns to its right show how much the lead changes per unit of each weight.',
    'at: the nearest lower and higher values at which two policies swap ranks; the other weights keep their ratios, and all sum to 1.',
    '',
  ].join('\n');
}

function renderRanking(condition: RegradedCondition): string {
  const leads = renderLeads(condition);
  return condition.standings.length < 2 ? leads : `${leads}\n\n${renderFlips(condition.sensitivity)}`;
}

/** Renders the ranking: each policy's score, its lead over the next policy, and the effect of each weight on the lead. */
function renderLeads({ condition, standings, sensitivity }: RegradedCondition): string {
  const heads = sensitivity.map(({ component }) => COMPONENT_HEADS[component]);
  const rows = standings.map(({ policy, finalScore, lead }, rank) => [
    policy,
    alignedInterval(finalScore),
    ...(lead === null
      ? ['-', ...heads.map(() => '-')]
      : [alignedInterval(lead), ...sensitivity.map(({ leads }) => signed(leads[rank].slope.mean))]),
  ]);
  return renderColumns(
    [`${condition}:\nranking`, 'final score\n(95 %)', 'lead over the\nnext (95 %)', ...heads],
    ['left', 'right', 'right', ...heads.map((): Alignment => 'right')],
    rows,
  );
}

/** Formats a number with its sign; a number that rounds to zero, without a sign. */
function signed(value: number): string {
  const text = decimals(value);
  return Number(text) > 0 ? `+${text}` : text;
}

/** Renders, for each weight, the nearest values at which two policies swap ranks. */
function renderFlips(sensitivity: readonly WeightSensitivity[]): string {
  const rows = sensitivity.flatMap(({ component, weight, below, above }) => {
    const flips = [below, above].filter((flip) => flip !== null);
    const first = [component, decimals(weight)];
    if (flips.length === 0) return [[...first, '-', 'found no value that changes the ranking']];
    return flips.map((flip, i) => [...(i === 0 ? first : ['', '']), decimals(flip.weight), flipText(flip)]);
  });
  return renderColumns(['weight of', 'now', 'at', ''], ['left', 'right', 'right', 'left'], rows);
}

const flipText = ({ policy, passed }: Flip): string => `${policy} passes ${passed}`;
