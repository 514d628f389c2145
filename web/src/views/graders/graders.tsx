/** What a grader pays for: six weights to move, and the ranking of the policies under them. */
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { rankPolicies } from '../../../../src/evaluate/ranking.js';
import { verdictOf } from '../../graders/verdict.js';
import { fractionsOf, type Weights } from '../../graders/weights.js';
import { FailureFace, Loading } from '../../states/faces.js';
import type { ViewProps } from '../view.js';
import type { GRADERS_FIELDS } from './fields.js';
import { Flips } from './flips.js';
import { GraderFile } from './grader-file.js';
import { PeoplePanel } from './people.js';
import { failure, type Played, play, played, stopPlaying } from './play.js';
import { Ranking } from './ranking.js';
import { VerdictPanel } from './verdict.js';
import { WeightsPanel } from './weights.js';
import '../../parts/marks.css';
import './graders.css';

export function GradersView({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
  const { seed, weights } = state;
  const people = Number(state.people);
  const again = (): void => void play(seed, people);
  useLayoutEffect(() => {
    again();
    return stopPlaying;
  }, [seed, people]);
  return (
    <div class="graders">
      <h1>What a grader pays for</h1>
      <p class="lead">
        A grader is six weights. Move them, and see whom it puts first: policies that infer who the person is,
        or a blind tape, which is the same 28 actions for everybody, with the middle of everything for a
        belief.
      </p>
      <div class="bench">
        <WeightsPanel weights={weights} change={(next, how) => change({ weights: next }, how)} />
        <div class="column">
          {failure.value !== null && <FailureFace failure={failure.value} retry={again} />}
          {failure.value === null && played.value === null && <Loading>Playing the first weeks …</Loading>}
          {played.value !== null && <Ranked played={played.value} weights={weights} />}
          <PeoplePanel state={state} change={change} />
          <GraderFile weights={weights} />
        </div>
      </div>
    </div>
  );
}

function Ranked({ played, weights }: { readonly played: Played; readonly weights: Weights }) {
  const { policies } = played;
  const fractions = useMemo(() => fractionsOf(weights), [weights]);
  const ranking = useMemo(() => rankPolicies(policies, fractions), [policies, fractions]);
  const verdict = useMemo(() => verdictOf(ranking, policies, fractions), [ranking, policies, fractions]);
  return (
    <>
      <VerdictPanel verdict={verdict} people={played.people} />
      <Ranking ranking={ranking} policies={policies} weights={fractions} verdict={verdict} />
      <Flips policies={policies} weights={fractions} />
    </>
  );
}
