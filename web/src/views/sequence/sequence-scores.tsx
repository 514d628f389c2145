/**
 * The final scores of the sequence that the visitor paints: the mean under every grader, and the histogram under one grader.
 */
import { useMemo } from 'preact/hooks';
import { histogramInWords } from '../../../../src/figures/histogram.js';
import { ACCENT, decimal } from '../../../../src/figures/theme.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { HistogramPlot } from '../../charts/histogram.js';
import { PEOPLE, type SequenceScores } from '../../engine/sequence/sequence-scores.js';
import { Choices } from '../../parts/controls.js';
import { grouped } from '../../parts/grouped.js';
import { Table } from '../../parts/table.js';
import { policyName } from '../../words.js';
import { halfWidth } from '../crowd/format.js';
import { histogramTable } from '../crowd/tables.js';
import { auditedScore, auditedYardstick } from './audited.js';

interface ScoresPanelProps {
  readonly scores: SequenceScores | null;
  /** Whether the scores are those of the sequence that the page shows. */
  readonly isCurrent: boolean;
  readonly grader: string;
  readonly choose: (grader: string) => void;
}

export function ScoresPanel({ scores, isCurrent, grader, choose }: ScoresPanelProps) {
  const isComplete = isCurrent && scores?.numPeople === PEOPLE.count;
  return (
    <section class="panel scores" aria-labelledby="scores" aria-busy={!isComplete}>
      <h2 id="scores">{scores === null ? 'Computing the first weeks …' : headlineOf(scores, grader)}</h2>
      <Choices
        legend="Grader of the histogram"
        choices={GRADER_NAMES.map((name) => [
          <>
            {name} <strong>{scores === null ? '…' : decimal(scores.byGrader[name].score.mean, 3)}</strong>
          </>,
          name === grader,
          () => choose(name),
        ])}
      />
      <Picture scores={scores} grader={grader} />
      <p class="note people">
        n = {grouped(scores?.numPeople ?? 0)}
        {isComplete ? ' people' : ' people so far'}
        {scores !== null && `, mean ${halfWidth(scores.byGrader[grader].score, 3)}`}
      </p>
      <p class="visually-hidden" role="status">
        {isComplete && inWords(scores)}
      </p>
    </section>
  );
}

/**
 * Returns the headline: the sequence's mean, and its distances from the yardstick and from the audited mean of the planner.
 */
function headlineOf({ byGrader }: SequenceScores, grader: string): string {
  const { mean } = byGrader[grader].score;
  const [yardstick, planner] = [auditedYardstick(grader), auditedScore(grader, 'planner')].map((score) =>
    distanceInWords(mean - score),
  );
  return `${decimal(mean, 3)} under ${grader}: ${yardstick} the best that reads nobody, ${planner} the planner`;
}

const distanceInWords = (lead: number): string =>
  `${decimal(Math.abs(lead), 2)} ${lead < 0 ? 'behind' : 'ahead of'}`;

/** Describes the scores for screen readers. */
function inWords({ byGrader, numPeople }: SequenceScores): string {
  const means = Object.entries(byGrader).map(([name, { score }]) => `${name} ${decimal(score.mean, 3)}`);
  return `Mean final scores of ${grouped(numPeople)} people: ${means.join(', ')}.`;
}

/** The heights of the histogram in pixels on narrow and on wide screens, chosen by hand. */
const [LOW_HEIGHT, HEIGHT] = [112, 220];
/** Whether the screen is narrow, by the limit of sequence.css. */
const isNarrow = matchMedia('(max-width: 60rem)');

function Picture({ scores, grader }: Pick<ScoresPanelProps, 'scores' | 'grader'>) {
  const chart = useMemo(() => {
    if (scores === null) return null;
    const { counts, score } = scores.byGrader[grader];
    const rows = [{ name: 'this sequence', colour: ACCENT, counts, mean: score.mean }];
    const marks = (['heuristic+constant', 'planner'] as const).map((policy) => ({
      name: policyName(policy.replace('+constant', '')),
      value: auditedScore(grader, policy),
    }));
    return { rows, marks, description: histogramInWords(rows) };
  }, [scores, grader]);
  const height = isNarrow.matches ? LOW_HEIGHT : HEIGHT;
  return (
    <div style={{ minHeight: `${height}px` }}>{chart && <HistogramPlot {...chart} height={height} />}</div>
  );
}

/** The histograms as a table. */
export const ScoresTable = ({ scores }: { readonly scores: SequenceScores }) => (
  <details>
    <summary>The histograms as a table</summary>
    <Table
      {...histogramTable(
        Object.entries(scores.byGrader).map(([name, { counts }]) => ({ name: `under ${name}`, counts })),
      )}
    />
  </details>
);
