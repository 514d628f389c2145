/** The graders view: weights to move, and the ranking of policies under them. */
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { type PolicyComponents, rankPolicies } from '../../../../src/evaluation/ranking.js';
import { bracketOf } from '../../graders/bracket.js';
import { ticksOf } from '../../graders/ticks.js';
import { placesOf } from '../../graders/ties.js';
import { verdictOf } from '../../graders/verdict.js';
import { fractionsOf, moveWeight, slidersAt, type Weights } from '../../graders/weights.js';
import { FailureMessage, Loading } from '../../states/messages.js';
import type { ViewProps } from '../view.js';
import { EpisodesPanel } from './episodes-panel.js';
import type { GRADERS_FIELDS } from './fields.js';
import { Flips } from './flips.js';
import { GraderFile } from './grader-file.js';
import { Ranking } from './ranking.js';
import { failure, play, results, stopPlaying } from './results-store.js';
import { useSensitivity } from './use-sensitivity.js';
import { headingOf, VerdictPanel } from './verdict.js';
import { VerdictStrip } from './verdict-strip.js';
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
  const ticks = useMemo(() => sensitivity?.map(ticksOf) ?? null, [sensitivity]);
  const setWeights = (next: Weights, mode?: 'push' | 'replace'): void => change({ weights: next }, mode);
  return (
    <div class="graders">
      <h1>What a grader pays for</h1>
      <p class="lead">
        A grader gives a weight to each component of the grade. Move the weights, and see which policies rank
        first: policies that infer who the person is, or an open-loop sequence (the same 28 actions for every
        person) with the constant belief 0.5.
      </p>
      <div class="bench">
        {failure.value === null && (
          <VerdictStrip
            heading={ranked === null ? 'Playing the first weeks …' : headingOf(ranked.verdict)}
            pays={ranked?.verdict.pays ?? ''}
            places={ranked?.places ?? []}
          />
        )}
        <WeightsPanel weights={weights} change={setWeights} ticks={ticks} />
        <div class="column">
          {failure.value !== null && <FailureMessage failure={failure.value} retry={start} />}
          {failure.value === null && ranked === null && <Loading>Playing the first weeks …</Loading>}
          {ranked !== null && (
            <>
              <VerdictPanel verdict={ranked.verdict} people={results.value!.numEpisodes} />
              <Ranking
                {...ranked}
                policies={policies!}
                weights={fractions}
                people={results.value!.numEpisodes}
                bracket={bracketOf(weights)}
              />
              <Flips
                rows={sensitivity}
                jump={(k, to) => setWeights(moveWeight(slidersAt(weights), k, to).weights)}
              />
            </>
          )}
          <EpisodesPanel state={state} change={change} />
          <GraderFile weights={weights} />
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
