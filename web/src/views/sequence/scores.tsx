/** The final scores of the sequence that the visitor paints, beside those of audited policies. */
import { useMemo } from 'preact/hooks';
import type { YARDSTICK_POLICIES } from '../../../../src/evaluation/stored-scores.js';
import { histogramInWords } from '../../../../src/figures/histogram.js';
import { ACCENT, decimal } from '../../../../src/figures/theme.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { HistogramPlot, histogramTable } from '../../charts/histogram.js';
import type { SequenceScores } from '../../engine/requests.js';
import { Fold, Table } from '../../parts/content.js';
import { Choices } from '../../parts/controls.js';
import { PEOPLE } from '../../sizes.js';
import { grouped, halfWidth, policyName } from '../../words.js';

/** The policies to compare with. */
const COMPARED = [
  'heuristic+constant',
  'open-loop',
  'open-loop+constant',
  'reactive+constant',
  'planner-prior',
  'planner',
];

/** Audited means by grader and policy. vite.config.ts reads them from the audits. */
declare const AUDITED_SCORES: Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The policies that infer nothing. The best of their audited means is the yardstick. */
const YARDSTICK: typeof YARDSTICK_POLICIES = [
  'open-loop',
  'open-loop+constant',
  'reactive+constant',
  'planner-prior',
];

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
            {name} <strong>{meanOf(scores, name)}</strong>
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

/** Formats the mean of the sequence under a grader. */
const meanOf = (scores: SequenceScores | null, grader: string): string =>
  scores === null ? '…' : decimal(scores.byGrader[grader].score.mean, 3);

/** Returns the headline: the sequence's mean, and its distances from the yardstick and from the audited mean of the planner. */
function headlineOf({ byGrader }: SequenceScores, grader: string): string {
  const { mean } = byGrader[grader].score;
  const audited = AUDITED_SCORES[grader];
  const yardstick = Math.max(...YARDSTICK.map((policy) => audited[policy]));
  const from = (score: number): string =>
    `${decimal(Math.abs(mean - score), 2)} ${mean < score ? 'behind' : 'ahead of'}`;
  return `${decimal(mean, 3)} under ${grader}: ${from(yardstick)} the best that reads nobody, ${from(audited.planner)} the planner`;
}

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
    const marks = ['heuristic+constant', 'planner'].map((policy) => ({
      name: policyName(policy.replace('+constant', '')),
      value: AUDITED_SCORES[grader][policy],
    }));
    return { rows, marks, description: histogramInWords(rows) };
  }, [scores, grader]);
  const height = isNarrow.matches ? LOW_HEIGHT : HEIGHT;
  return (
    <div style={{ minHeight: `${height}px` }}>{chart && <HistogramPlot {...chart} height={height} />}</div>
  );
}

/** Why the best fixed sequence nearly matches the planner under v2, but not under v3: the reason and the mean scores. */
export function Comparison({ scores }: { readonly scores: SequenceScores | null }) {
  const behind = (grader: string): string => {
    const { planner, 'open-loop+constant': sequence } = AUDITED_SCORES[grader];
    return decimal(planner - sequence, 2);
  };
  const own = GRADER_NAMES.map((grader) => meanOf(scores, grader));
  const others = COMPARED.map((policy) => [
    policyName(policy),
    ...GRADER_NAMES.map((grader) => decimal(AUDITED_SCORES[grader][policy], 3)),
  ]);
  const histograms = Object.entries(scores?.byGrader ?? {});
  return (
    <section class="panel" aria-labelledby="why">
      <h2 id="why">Why a fixed sequence nearly matches the planner under v2, but not under v3</h2>
      <p class="note">
        Grader v2 pays for an improvement from the first half of the week to the second, so a bad start raises
        the score with every person. The belief 0.5 raises it too. The best sequence is only {behind('v2')}{' '}
        behind the planner, which infers who the person is. Grader v3 pays for every slot of the week, and
        only for beliefs that fit the person. There the best sequence is {behind('v3')} behind the planner.
      </p>
      <Table
        caption="Mean final scores"
        columns={['Played by', ...GRADER_NAMES]}
        rows={[['this week, guessing 0.5', ...own], ...others]}
      />
      <p class="fine">
        The means of this sequence are those of the people in the histogram. The other means were measured in
        2,000 weeks, those of the planners in 100. A policy may infer only if its mean lies above those of the
        best sequence, of the policy that reacts to the meters and of the planner without inference; even then
        it need not.
      </p>
      {scores !== null && (
        <Fold title="The histograms as a table">
          <Table
            {...histogramTable(histograms.map(([name, { counts }]) => ({ name: `under ${name}`, counts })))}
          />
        </Fold>
      )}
    </section>
  );
}
