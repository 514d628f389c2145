/** The graders view in one screen: the verdict, the first places of the ranking, and the weights to move. The rest is folded. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { type PolicyComponents, rankPolicies } from '../../../../src/evaluation/ranking.js';
import { placesOf, verdictOf } from '../../graders/verdict.js';
import { fractionsOf, moveWeight, slidersAt, type Weights } from '../../graders/weights.js';
import { Select, TextField } from '../../parts/controls.js';
import { grouped } from '../../parts/grouped.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import type { ViewProps } from '../view.js';
import { GRADERS_FIELDS, PEOPLE } from './fields.js';
import { Flips, useSensitivity } from './flips.js';
import { GraderFile } from './grader-file.js';
import { Ranking } from './ranking.js';
import { failure, play, results, stopPlaying } from './results-store.js';
import { Beaten, VerdictPanel } from './verdict.js';
import { WeightsPanel } from './weights.js';
import '../../parts/marks.css';
import './graders.css';

export function GradersView({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
  const { seed, weights } = state;
  const people = Number(state.people);
  const start = (): void => void play(seed, people);
  useLayoutEffect(() => {
    start();
    return stopPlaying;
  }, [seed, people]);
  const policies = results.value?.policies ?? null;
  const fractions = useMemo(() => fractionsOf(weights), [weights]);
  const sensitivity = useSensitivity(policies, fractions);
  const ranked = useMemo(() => (policies === null ? null : rank(policies, fractions)), [policies, fractions]);
  const setWeights = (next: Weights, mode?: 'push' | 'replace'): void => change({ weights: next }, mode);
  return (
    <div class="graders">
      <h1>What a grader pays for</h1>
      <p class="lead">Move a grader's weights, and find out whether it pays for reading a person.</p>
      {failure.value !== null && <FailureMessage failure={failure.value} retry={start} />}
      <div class="bench">
        {ranked === null ? (
          <div class="verdict">{failure.value === null && <Loading>Playing the first weeks …</Loading>}</div>
        ) : (
          <VerdictPanel verdict={ranked.verdict} />
        )}
        <WeightsPanel weights={weights} change={setWeights} />
        {ranked !== null && (
          <Ranking
            {...ranked}
            policies={policies!}
            weights={weights}
            people={results.value!.numEpisodes}
            requested={people}
          />
        )}
        <div class="panel folds">
          {ranked !== null && (
            <>
              <Fold title="Who reads and still loses">
                <Beaten verdict={ranked.verdict} />
              </Fold>
              <Fold title="Where the ranking changes">
                <Flips
                  rows={sensitivity}
                  jump={(k, to) => setWeights(moveWeight(slidersAt(weights), k, to).weights)}
                />
              </Fold>
            </>
          )}
          <Fold title="The people">
            <People state={state} change={change} />
          </Fold>
          <Fold title="The grader as a file">
            <GraderFile weights={weights} />
          </Fold>
        </div>
      </div>
    </div>
  );
}

/** Returns the places of the policies and the verdict. @param weights in the order of COMPONENT_NAMES. */
function rank(policies: readonly PolicyComponents[], weights: readonly number[]) {
  const ranking = rankPolicies(policies, weights);
  return { places: placesOf(ranking), verdict: verdictOf(ranking, policies, weights) };
}

const Fold = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <details>
    <summary>{title}</summary>
    {children}
  </details>
);

/** The settings of the episodes in which policies are compared: number and seeds. */
const People = ({ state, change }: ViewProps<typeof GRADERS_FIELDS>) => (
  <>
    <div class="controls">
      <Select
        label="People"
        value={state.people}
        names={PEOPLE}
        labels={Object.fromEntries(PEOPLE.map((count) => [count, grouped(Number(count))]))}
        hint="Inference takes about 30 ms per person and policy."
        onChange={(people) => change({ people })}
      />
      <TextField
        label="First seed"
        field={GRADERS_FIELDS.seed}
        value={state.seed}
        hint="No policy of the ranking was tuned on the seeds from 20000 on."
        onChange={(seed) => change({ seed })}
      />
    </div>
    <p class="fine">
      Each policy plays a week with each person, on the TypeScript reference in a worker. The ranking covers
      the people so far. Students that you keep in Train play too. The planners are left out: in a browser
      they take about five seconds per week.
    </p>
  </>
);
