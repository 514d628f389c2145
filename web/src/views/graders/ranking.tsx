/** The verdict on the grader in words, and the ranking of the policies: on demand all places with their leads. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ScoreAnchors, shippedAnchors } from '../../../../src/evaluation/audit/read-anchors.js';
import { shareOf } from '../../../../src/evaluation/bracket.js';
import type { PolicyComponents } from '../../../../src/evaluation/ranking.js';
import { COMPONENT_COLOURS, decimal } from '../../../../src/figures/theme.js';
import type { Interval } from '../../../../src/shared/statistics.js';
import { COMPONENT_NAMES } from '../../../../src/world/fields.js';
import { type BarAxis, leftOf, placeOf, stackOf } from '../../charts/score-parts.js';
import { meansOf, type Place, rankedPolicy, type Verdict } from '../../graders/verdict.js';
import { fractionsOf, presetOf, type Weights } from '../../graders/weights.js';
import { Announcement, PolicyName } from '../../parts/content.js';
import { Button } from '../../parts/controls.js';
import { signed } from '../../person/descriptions.js';
import { COMPONENT_WORDS, grouped, halfWidth, policyName } from '../../words.js';

export function VerdictPanel({ verdict }: { readonly verdict: Verdict }) {
  const heading = headingOf(verdict);
  return (
    <section
      class="panel verdict"
      style={{ borderLeftColor: `var(--pays-${verdict.pays})` }}
      aria-labelledby="verdict"
    >
      <h2 id="verdict">{heading}</h2>
      <p>{leadInWords(verdict)}</p>
      <Announcement text={heading} delay={DELAY} />
    </section>
  );
}

/** The policies that infer but lose to one that does not, with the reasons. */
export const Beaten = ({ beaten, bestIgnoring, bestInferring }: Verdict) => (
  <>
    {beaten.length === 0 && <p>None. No policy that infers loses to one that does not.</p>}
    {beaten.map(({ name, lead, largestPart: { component, part } }) => (
      <p key={name}>
        <strong>{policyName(bestIgnoring)}</strong> beats <strong>{policyName(name)}</strong> by{' '}
        {inWords(lead)}, mostly through {COMPONENT_WORDS[component].name} ({signed(part, 3)}).
      </p>
    ))}
    {rankedPolicy(bestInferring).sequenceGrader !== null && (
      <p>
        Even the best policy that infers uses its inference for the belief only: its 28 actions are the same
        for everybody.
      </p>
    )}
  </>
);

/** Returns the verdict in a sentence. */
function headingOf({ pays, bestIgnoring, beaten, lead }: Verdict): string {
  if (pays === 'inference') return 'It pays for reading the person';
  if (pays === 'part')
    return `It pays for reading the person, but ${beaten.length} who read lose to one who does not`;
  return lead.mean === 0
    ? 'It pays nothing for reading the person'
    : `It pays more for “${policyName(bestIgnoring)}” than for reading the person`;
}

function leadInWords({ lead }: Verdict): string {
  if (lead.mean === 0) return 'The best who reads scores exactly the same as the best who does not.';
  const verb = lead.mean > 0 ? 'leads' : 'is behind';
  const isUnsure = lead.low !== null && lead.low <= 0 && lead.high! >= 0;
  return `The best who reads ${verb} the best who does not by ${inWords(lead)}.${isUnsure ? ' The difference is not significant.' : ''}`;
}

/** Formats the size of a difference, with its 95 % interval: "0.021 ±0.003". */
const inWords = (lead: Interval): string => `${Math.abs(lead.mean).toFixed(3)} ${halfWidth(lead, 3)}`;

/**
 * Milliseconds without a change of the heading after which it is announced. Chosen by hand: a shorter delay announces more
 * headings while a slider moves.
 */
const DELAY = 700;

/** Milliseconds of a move. Chosen by hand. */
const DURATION = 260;
const stayStill = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Animates each row of a list, an element with `data-row`, from its place before this render to its place after it, unless the
 * visitor prefers reduced motion.
 */
function useMovingRows(list: RefObject<HTMLElement | null>): void {
  // Read before the render changes the page. A row that is still moving goes on from where it is.
  const before = topsOf(list.current);
  useLayoutEffect(() => {
    for (const row of before.keys()) for (const move of row.getAnimations()) move.cancel();
    if (before.size === 0) return;
    for (const [row, to] of topsOf(list.current)) {
      const from = before.get(row);
      if (from === undefined || from === to) continue;
      const moves = [{ transform: `translateY(${from - to}px)` }, { transform: 'none' }];
      row.animate(moves, { duration: DURATION, easing: 'ease-out' });
    }
  });
}

/** Returns the distance of each row from the top of the list, in pixels; none if rows are not to move. */
function topsOf(list: HTMLElement | null): Map<HTMLElement, number> {
  if (list === null || stayStill.matches) return new Map();
  const { top } = list.getBoundingClientRect();
  const rows = Array.from(list.querySelectorAll<HTMLElement>('[data-row]'));
  return new Map(rows.map((row) => [row, row.getBoundingClientRect().top - top]));
}

interface RankingProps {
  /** The best first. */
  readonly places: readonly Place[];
  readonly policies: readonly PolicyComponents[];
  readonly weights: Weights;
  readonly verdict: Verdict;
  /** The number of people so far, and of all people. */
  readonly people: number;
  readonly requested: number;
}

/** The number of places that are always shown; graders.css hides two of them on a phone. */
const FIRST = 5;

export function Ranking({ places, policies, weights, verdict, people, requested }: RankingProps) {
  const list = useRef<HTMLOListElement>(null);
  const [isWhole, setWhole] = useState(false);
  useMovingRows(list);
  const beaten = new Set(verdict.beaten.map(({ name }) => name));
  const fractions = fractionsOf(weights);
  const parts = new Map(
    policies.map(({ name, components }) => [name, meansOf(components).map((mean, k) => mean * fractions[k])]),
  );
  const axis = { low: Math.min(...Array.from(parts.values(), leftOf)), high: 1 };
  const bracket = bracketOf(weights);
  const progress = `${people === requested ? '' : `${grouped(people)} of `}${grouped(requested)}`;
  return (
    <section class="panel places" aria-labelledby="ranking">
      <div class="head">
        <h2 id="ranking">Who comes first</h2>
        <span class="fine">mean scores, {progress} people</span>
      </div>
      {isWhole && <Reading bracket={bracket} />}
      <ol class={isWhole ? 'ranking whole' : 'ranking'} ref={list}>
        {(isWhole ? places : places.slice(0, FIRST)).map((place) => (
          <Row
            key={place.policies[0]}
            place={place}
            parts={parts.get(place.policies[0])!}
            axis={axis}
            share={bracket && shareOf(place.finalScore, people, bracket)}
            isBeaten={place.policies.some((policy) => beaten.has(policy))}
            isWhole={isWhole}
          />
        ))}
      </ol>
      <Button onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'Show the first' : `Show all ${places.length}, with their leads`}
      </Button>
    </section>
  );
}

/**
 * Returns both ends of a built-in grader's bracket, as an audit measured them on sampled profiles: the best score of one action
 * sequence and one belief for everybody, and the score of a planner that knows the person. Null for other weights.
 */
function bracketOf(weights: Weights): ScoreAnchors | null {
  const preset = presetOf(weights);
  return (preset && shippedAnchors(preset.name)?.anchors.sampled) ?? null;
}

/** How to read the rows. */
const Reading = ({ bracket }: { readonly bracket: ScoreAnchors | null }) => (
  <p class="note">
    A score has a 95 % interval; its parts are weight times component, in the colours of the weights. The lead
    is the mean difference from the next place for the same people.{' '}
    {bracket === null ? (
      <>
        What knowing the person is worth was measured for v1, v2 and v3;{' '}
        <code>rhythm-vec audit --grader</code> measures it for other weights.
      </>
    ) : (
      `The worth places a score between two others: 0 is the best score of the same 28 actions and one belief for everybody (${bracket.sequence.mean.toFixed(3)}); 1 is that of a planner that knows the person (${bracket.oracle.mean.toFixed(3)}).`
    )}
  </p>
);

interface RowProps {
  readonly place: Place;
  readonly parts: readonly number[];
  readonly axis: BarAxis;
  readonly share: Interval | null;
  readonly isBeaten: boolean;
  readonly isWhole: boolean;
}

function Row({ place, parts, axis, share, isBeaten, isWhole }: RowProps) {
  const { policies, finalScore, lead } = place;
  const { mean, low, high } = finalScore;
  return (
    <li class={rankedPolicy(policies[0]).beliefs} data-policy={policies.join(' ')} data-row={policies[0]}>
      <span class="who">
        {policies.map((policy) => (
          <PolicyName key={policy} of={policy} />
        ))}
        {isBeaten && <span class="mark">loses to one who does not read</span>}
      </span>
      {/* The parts of the score, the negative ones left of 0, and its interval. */}
      <span class="stack" aria-hidden="true">
        {stackOf(parts).map((section, k) => (
          <span
            key={COMPONENT_NAMES[k]}
            class="segment"
            style={{ ...placeOf(section, axis), background: COMPONENT_COLOURS[k] }}
          />
        ))}
        {axis.low < 0 && <span class="zero" style={placeOf({ start: 0, end: 0 }, axis)} />}
        <span class="whisker" style={placeOf({ start: low ?? mean, end: high ?? mean }, axis)} />
      </span>
      <span class="score">{inNumbers(finalScore, 3)}</span>
      {isWhole && (
        <small>
          lead <span class="lead-over-next">{lead === null ? '–' : inNumbers(lead, 3)}</span>, worth{' '}
          <span class="worth">{share === null ? '–' : inNumbers(share, 2)}</span>
        </small>
      )}
    </li>
  );
}

const inNumbers = (interval: Interval, digits: number): string =>
  `${decimal(interval.mean, digits)} ${halfWidth(interval, digits)}`;
