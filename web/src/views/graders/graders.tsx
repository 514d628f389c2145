/** The graders view in one screen: the verdict, the first places of the ranking, and the weights to move. The rest is folded. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type PolicyComponents, rankPolicies } from '../../../../src/evaluation/ranking.js';
import type { Flip, WeightSensitivity } from '../../../../src/evaluation/weight-sensitivity.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { fieldOf, type ViewProps } from '../../address.js';
import { placesOf, verdictOf } from '../../graders/verdict.js';
import {
  beyond,
  fractionsOf,
  graderFile,
  moveWeight,
  presetOf,
  slidersAt,
  type Weights,
} from '../../graders/weights.js';
import { FailureMessage, Fold, Loading } from '../../parts/content.js';
import { CopyButton, Select, TextField } from '../../parts/controls.js';
import { COMPONENT_WORDS, grouped, policyName } from '../../words.js';
import { GRADERS_FIELDS, RANKED_PEOPLE } from '../fields.js';
import { Beaten, Ranking, VerdictPanel } from './ranking.js';
import { callGraders, failure, play, results, stopPlaying } from './results-store.js';
import { WeightsPanel } from './weights.js';
import './graders.css';

/**
 * Milliseconds after the last move of a slider until the sensitivity is computed. Chosen by hand: with less, it is computed
 * more often while a slider moves.
 */
const DELAY = 250;

/**
 * Returns the sensitivity of the ranking; null until it is computed for these weights. While more episodes are played,
 * returns the last result.
 */
function useSensitivity(policies: readonly PolicyComponents[] | null, weights: readonly number[]) {
  const [sensitivity, setSensitivity] = useState({ weights, rows: null as WeightSensitivity[] | null });
  const latest = useRef(weights);
  latest.current = weights;
  useLayoutEffect(() => {
    if (policies === null) return;
    const timer = setTimeout(async () => {
      const call = callGraders((worker) => worker.sensitivity(policies, weights));
      const rows = await call.catch(() => null);
      if (rows !== null && latest.current === weights) setSensitivity({ weights, rows });
    }, DELAY);
    return () => clearTimeout(timer);
  }, [policies, weights]);
  return sensitivity.weights === weights ? sensitivity.rows : null;
}

interface FlipsProps {
  /** Null while they are computed. */
  readonly rows: readonly WeightSensitivity[] | null;
  /** Moves weight k to `to` thousandths. */
  readonly jump: (k: number, to: number) => void;
}

const Flips = ({ rows, jump }: FlipsProps) => (
  <div aria-busy={rows === null}>
    <p class="note">
      The nearest smaller and the nearest larger weight at which two neighbours of the ranking change places,
      while the other weights keep their proportions. Press a number to set that weight.
    </p>
    {rows === null ? (
      <p class="fine">Computing the nearest changes of the ranking …</p>
    ) : (
      <ul class="flips">
        {rows.map(({ component, weight, below, above }, k) => (
          <li key={component}>
            <strong>
              {COMPONENT_WORDS[component].name} <small>now {weight.toFixed(3)}</small>
            </strong>
            <FlipChoice flip={below} now={weight} side="smaller" jump={(to) => jump(k, to)} />
            <FlipChoice flip={above} now={weight} side="larger" jump={(to) => jump(k, to)} />
          </li>
        ))}
      </ul>
    )}
  </div>
);

interface FlipChoiceProps {
  readonly flip: Flip | null;
  readonly now: number;
  readonly side: string;
  readonly jump: (to: number) => void;
}

function FlipChoice({ flip, now, side, jump }: FlipChoiceProps) {
  if (flip === null) return <span class="fine">{side}: changes nothing</span>;
  return (
    <span>
      <button type="button" class="jump" onClick={() => jump(beyond(flip, now))}>
        {flip.weight.toFixed(3) === now.toFixed(3) ? 'any change' : flip.weight.toFixed(3)}
      </button>{' '}
      <small>
        {policyName(flip.policy)} passes {policyName(flip.passed)}
      </small>
    </span>
  );
}

/** The grader's name: valid as a file name, and needs no quotes on a command line. */
const NAME = fieldOf('mine', '1 to 40 letters, digits, - or _, and not the name of another grader', (text) =>
  /^[\w-]{1,40}$/.test(text) && !GRADER_NAMES.includes(text) ? text : null,
);

function GraderFile({ weights }: { readonly weights: Weights }) {
  const [ownName, setOwnName] = useState(NAME.initial);
  const preset = presetOf(weights);
  const name = preset?.name ?? ownName;
  const text = graderFile(weights, name);
  const file = `${name}.json`;
  return (
    <div class="file">
      {preset === null && <TextField label="Name" field={NAME} value={ownName} onChange={setOwnName} />}
      <div class="actions">
        <a class="button" href={`data:application/json,${encodeURIComponent(text)}`} download={file}>
          Download {file}
        </a>
        <CopyButton label="Copy" text={text} />
      </div>
      <p class="fine">
        For <code>rhythm-vec eval --grader {file}</code>. <code>audit --grader {file}</code> measures what
        this grader rewards.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard. */}
      <section class="text" tabIndex={0} aria-label="The text of the file">
        <pre>{text}</pre>
      </section>
    </div>
  );
}

export function View({ state, change }: ViewProps<typeof GRADERS_FIELDS>) {
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
  const ranked = useMemo(() => {
    if (policies === null) return null;
    const ranking = rankPolicies(policies, fractions);
    return { places: placesOf(ranking), verdict: verdictOf(ranking, policies, fractions) };
  }, [policies, fractions]);
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
                <Beaten {...ranked.verdict} />
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
            <div class="controls">
              <Select
                label="People"
                value={state.people}
                names={RANKED_PEOPLE}
                labelOf={(count) => grouped(Number(count))}
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
              Each policy plays a week with each person, in a worker. The ranking covers the people so far.
              Students that you keep in Train play too. The planners are left out: in a browser they take
              about five seconds per week.
            </p>
          </Fold>
          <Fold title="The grader as a file">
            <GraderFile weights={weights} />
          </Fold>
        </div>
      </div>
    </div>
  );
}
