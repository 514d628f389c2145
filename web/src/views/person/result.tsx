/** The end of a week: who it was, how well the person lived, and how well they were read, beside rivals. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { decimal } from '../../../../src/figures/theme.js';
import { BELIEF_NAMES, COMPONENT_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { Fold, Table } from '../../parts/content.js';
import { Button, CopyButton } from '../../parts/controls.js';
import { mostUnusual, profileInWords, profileNameOf, signed, title } from '../../person/descriptions.js';
import { BY_HAND, type EpisodeResult, type Scored } from '../../person/episode.js';
import {
  type DayGrades,
  daysOf,
  type Grade,
  gradeText,
  headline,
  livedScore,
  readScore,
  resultText,
} from '../../person/result-text.js';
import { BELIEF_WORDS, COMPONENT_WORDS, colourOf, policyName } from '../../words.js';
import { outlineOf, Ring, RingKey } from './belief.js';
import { type EpisodeSoFar, lastGuess, type RivalState, rivalNames, rivalsIn } from './episode-store.js';

/** The sentence describes at most this many of the hidden numbers. Chosen by hand, so that it stays short. */
const MAX_DESCRIBED = 4;

/** The colour of what the planner would believe. */
const INFERRED = colourOf('planner+inference');

/** The person in words, and the belief of the player and of the planner beside the true values. */
function HiddenProfile({ result, player }: Pick<ResultProps, 'result' | 'player'>) {
  const { target, belief, given, profile } = result;
  const name = profileNameOf(profile);
  const words = mostUnusual(profileInWords(profile), MAX_DESCRIBED).map((number) => number.words);
  const guess = lastGuess();
  const outlines = [
    outlineOf('truth', 'the truth', target, 'var(--ink)'),
    ...(guess ? [outlineOf('dashed', 'the planner, from the same week', guess, INFERRED)] : []),
    ...(given ? [outlineOf('filled', policyName(player), belief, 'var(--player)')] : []),
  ];
  return (
    <>
      <p class="whole-person">
        {name !== null && `${title(name)}: `}
        {title(words.join('; '))}.
      </p>
      <Ring outlines={outlines} />
      <RingKey outlines={outlines} />
      <table class="truths">
        <caption class="visually-hidden">The belief, from 0 to 1</caption>
        <thead>
          <tr>
            <th scope="col">0 to 1</th>
            {outlines.map(({ label: whose }) => (
              <th key={whose} scope="col">
                {whose.replace(/, .*/, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {BELIEF_NAMES.map((each, k) => (
            <tr key={each}>
              <th scope="row">
                {BELIEF_WORDS[each].low} – {BELIEF_WORDS[each].high}
              </th>
              {outlines.map(({ label: whose, values }) => (
                <td key={whose}>{values[k].toFixed(2)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

interface ResultProps {
  readonly episode: EpisodeSoFar;
  readonly result: EpisodeResult;
  /** Whether the visitor took the last step here; a link may lead directly to the end. */
  readonly finishedHere: boolean;
  /** Who played: BY_HAND or a policy. */
  readonly player: string;
  /** The policy that the visitor races, or NOBODY. */
  readonly against: string;
  /** The first line of the text to share, and the address at which others can play. */
  readonly title: string;
  readonly link: string;
  /** A link after the buttons. */
  readonly children?: ComponentChildren;
}

export function Result(props: ResultProps) {
  const { episode, result, finishedHere, player, against, title: line, link, children } = props;
  const { setting, moves } = episode;
  const head = useRef<HTMLHeadingElement>(null);
  // The button that had the focus is gone, so the focus moves here for keyboard users.
  useLayoutEffect(() => {
    if (finishedHere && document.activeElement === document.body) head.current?.focus();
  }, [finishedHere]);
  const guess = lastGuess();
  const days = daysOf(moves, result);
  const rivals = rivalsIn(setting);
  const text = resultText({ title: line, result, guess, days, link });
  return (
    <div class="end">
      <section class="panel" aria-labelledby="who">
        <h2 id="who" ref={head} tabIndex={-1}>
          Who it was
        </h2>
        <HiddenProfile result={result} player={player} />
      </section>
      <section class="panel" aria-labelledby="how">
        <h2 id="how">{headline(result, guess)}</h2>
        <dl class="figures">
          {SCORES.map(({ name, scoreOf }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{scoreOf(result).words}</dd>
            </div>
          ))}
        </dl>
        <div class="actions">
          <CopyButton label="Copy the result" text={text} otherwise="Select the text below." main />
          {'share' in navigator && (
            <Button onClick={() => void navigator.share({ text }).catch(() => {})}>Share</Button>
          )}
          {children}
        </div>
        <div class="week-and-others">
          <Squares days={days} />
          <table class="standings">
            <caption class="visually-hidden">The same person with the same luck, by player</caption>
            <thead>
              <tr>
                <th scope="col">played by</th>
                <th scope="col">lived</th>
                <th scope="col">read</th>
              </tr>
            </thead>
            <tbody>
              <Standing name={player} scored={result} isMine />
              {rivalNames(setting.grader, against).map((name) => (
                <Standing key={name} name={name} scored={rivals[name]?.rival ?? null} state={rivals[name]} />
              ))}
            </tbody>
          </table>
        </div>
        <Fold title="The text to share">
          <pre class="result-text">{text}</pre>
        </Fold>
        <Fold title={`The grade under ${setting.grader}`}>
          <Grading {...result} />
        </Fold>
        <Fold title="All 16 hidden numbers">
          <Table
            caption="The hidden profile of this person, and for each number the share of all people who have less"
            columns={['hidden number', 'value', 'share of people with less', 'in words']}
            rows={profileInWords(result.profile).map(({ name, value, rank, words }) => {
              const share = `${Math.round(100 * rank)} %`;
              return [name, value.toFixed(3), share, words];
            })}
          />
        </Fold>
      </section>
    </div>
  );
}

const SCORES = [
  { name: 'How well they lived', scoreOf: livedScore },
  { name: 'How well they were read', scoreOf: readScore },
];

const GRADE_WORDS: Readonly<Record<Grade, string>> = {
  good: 'good',
  fair: 'fair',
  poor: 'poor',
  none: 'not said',
};

const GRADE_COLOURS: Readonly<Partial<Record<Grade, string>>> = {
  good: 'var(--series)',
  fair: 'var(--fair)',
  poor: 'var(--poor)',
};

/** A row for the belief and for each slot, and a column for each day. */
function Squares({ days }: { readonly days: readonly DayGrades[] }) {
  const rows = [
    { name: 'belief', grades: days.map(({ belief }) => belief) },
    ...RHYTHM.slots.map((name, slot) => ({ name, grades: days.map(({ slots }) => slots[slot]) })),
  ];
  return (
    <table class="squares">
      <caption class="fine">
        How close the belief was at the end of each day, and how good each slot was, without luck
      </caption>
      <tbody>
        {rows.map(({ name, grades }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {grades.map((grade, day) => (
              <td key={day}>
                <span style={{ background: GRADE_COLOURS[grade] }}>
                  <span class="visually-hidden">{GRADE_WORDS[grade]}</span>
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface StandingProps {
  readonly name: string;
  /** Null until the rival has finished. */
  readonly scored: Scored | null;
  readonly state?: RivalState;
  readonly isMine?: boolean;
}

/** The two scores of a player; a rival may still be playing. */
function Standing({ name, scored, state, isMine = false }: StandingProps) {
  const label = policyName(name);
  return (
    <tr class={isMine ? 'mine' : ''}>
      <th scope="row">
        {label}
        {label !== name && name !== BY_HAND && <small>{name}</small>}
      </th>
      {scored === null ? (
        <td colSpan={2}>
          {state?.failed ? (
            'could not play; reload the page to try again'
          ) : (
            <progress
              value={state?.steps ?? 0}
              max={NUM_STEPS}
              aria-label={`Slots that ${label} has played`}
            />
          )}
        </td>
      ) : (
        SCORES.map(({ name: what, scoreOf }) => {
          const { share, words } = scoreOf(scored);
          return (
            <td key={what}>
              <span class="track" aria-hidden="true">
                <span class="fill" style={{ width: `${100 * share}%`, background: colourOf(name) }} />
              </span>
              {words.replace(' of 100', '')}
            </td>
          );
        })
      )}
    </tr>
  );
}

/** The components of the grade. */
const Grading = ({ firstHalfMean, secondHalfMean, components, weights, finalScore }: EpisodeResult) => (
  <>
    <p class="note">
      {gradeText(finalScore)} Mean reward without luck: {signed(firstHalfMean)} in the first half,{' '}
      {signed(secondHalfMean)} in the second.
    </p>
    <Table
      caption="The final score is the sum of the parts, at least 0 and at most 1."
      columns={['component', 'earned', '× weight', '= part']}
      rows={COMPONENT_NAMES.map((name, k) => [
        `${COMPONENT_WORDS[name].name} (${name})`,
        decimal(components[k], 3),
        weights[k].toFixed(2),
        decimal(components[k] * weights[k], 3),
      ])}
    />
  </>
);
