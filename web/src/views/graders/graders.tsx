/** The graders view: weights to move, and the ranking of policies under them. */
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { rankPolicies } from '../../../../src/evaluation/ranking.js';
import { verdictOf } from '../../graders/verdict.js';
import { fractionsOf, type Weights } from '../../graders/weights.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import type { ViewProps } from '../view.js';
import { EpisodesPanel } from './episodes-panel.js';
import type { GRADERS_FIELDS } from './fields.js';
import { Flips } from './flips.js';
import { GraderFile } from './grader-file.js';
import { Ranking } from './ranking.js';
import { failure, play, type Results, results, stopPlaying } from './results-store.js';
import { VerdictPanel } from './verdict.js';
import { WeightsPanel } from './weights.js';
import '../../parts/marks.css';
import './graders.css';

export function GradersView({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
  const { seed, weights } = state;
  const people = Number(state.people);
  const replay = (): void => void play(seed, people);
  useLayoutEffect(() => {
    replay();
    return stopPlaying;
  }, [seed, people]);
  return (
    <div class="graders">
      <h1>What a grader pays for</h1>
      <p class="lead">
        A grader is a weight for each component of the grade. Move them, and see which policies it ranks
        first: those that infer the person, or an open-loop sequence, the same 28 actions for every person,
        with the constant belief 0.5.
      </p>
      <div class="bench">
        <WeightsPanel weights={weights} change={(next, mode) => change({ weights: next }, mode)} />
        <div class="column">
          {failure.value !== null && <FailureMessage failure={failure.value} retry={replay} />}
          {failure.value === null && results.value === null && <Loading>Playing the first weeks …</Loading>}
          {results.value !== null && <Ranked results={results.value} weights={weights} />}
          <EpisodesPanel state={state} change={change} />
          <GraderFile weights={weights} />
        </div>
      </div>
    </div>
  );
}

function Ranked({ results, weights }: { readonly results: Results; readonly weights: Weights }) {
  const { policies } = results;
  const fractions = useMemo(() => fractionsOf(weights), [weights]);
  const ranking = useMemo(() => rankPolicies(policies, fractions), [policies, fractions]);
  const verdict = useMemo(() => verdictOf(ranking, policies, fractions), [ranking, policies, fractions]);
  return (
    <>
      <VerdictPanel verdict={verdict} people={results.numEpisodes} />
      <Ranking ranking={ranking} policies={policies} weights={fractions} verdict={verdict} />
      <Flips policies={policies} weights={fractions} />
    </>
  );
}
