/** The view of one person, whose week is played by hand or by a policy. The profile is shown after the last step only. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { startState, type ViewProps } from '../../address.js';
import { FailureMessage, Loading } from '../../parts/content.js';
import { Button, CopyLink, Select, TextField } from '../../parts/controls.js';
import { title } from '../../person/descriptions.js';
import {
  BY_HAND,
  isNamed,
  NOBODY,
  PLAYER_NAMES,
  PROFILE_CHOICES,
  sliderBeliefAfter,
  statedBelief,
} from '../../person/episode.js';
import { keptStudents } from '../../students/kept-students.js';
import { colourOf, GRADER_WORDS, policyWords } from '../../words.js';
import { addressOf, PERSON_FIELDS, type PersonState } from '../fields.js';
import { type Outline, PolicyBelief } from './belief.js';
import { ByPolicy, Now } from './board.js';
import {
  adviceAt,
  currentEpisode,
  type EpisodeActions,
  type EpisodeSoFar,
  episodeActions,
  failure,
  follow,
  isOutdated,
  rivalNames,
  settingOf,
  stopFollowing,
  useRivals,
} from './episode-store.js';
import { useShortcuts } from './keys.js';
import { Result } from './result.js';
import { Announcements, Folds, inferredOutline, Playing, rivalOutline, Strip } from './week.js';
import '../../parts/marks.css';
import './person.css';
import './result.css';

const Setting = ({ actions }: { readonly actions: EpisodeActions }) => (
  <details>
    <summary>Setting: {settingWords(actions.state)}</summary>
    <Choices actions={actions} />
    <div class="actions">
      <CopyLink view={{ name: 'person', fields: PERSON_FIELDS }} />
    </div>
  </details>
);

const PROFILE_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PROFILE_CHOICES.map((name) => [name, title(name)])),
  sampled: 'Anybody',
  discrete: 'One of the three named people',
};

/** Describes the setting in a line: "anybody, seed 4242, grader v2, played by you". */
const settingWords = ({ person, seed, grader, by }: PersonState): string =>
  `${PROFILE_LABELS[person].toLowerCase()}, seed ${seed}, grader ${grader}, played by ${by === BY_HAND ? 'you' : by}`;

function Choices({ actions: { state, set, setPlayer } }: { readonly actions: EpisodeActions }) {
  const named = isNamed({ profile: state.person });
  return (
    <div class="controls">
      <Select
        label="Person"
        value={state.person}
        names={PROFILE_CHOICES}
        labels={PROFILE_LABELS}
        hint={named ? 'You named the person, so nothing is hidden.' : 'The seed determines the person.'}
        onChange={(person) => set({ person })}
      />
      <TextField
        label="Seed"
        field={PERSON_FIELDS.seed}
        value={state.seed}
        hint="The same seed gives the same person and luck."
        onChange={(seed) => set({ seed })}
      />
      <Select
        label="Grader"
        value={state.grader}
        names={GRADER_NAMES}
        hint={GRADER_WORDS[state.grader]}
        onChange={(grader) => set({ grader })}
      />
      <Select
        label="Played by"
        value={state.by}
        names={[BY_HAND, ...keptStudents.value.map(({ name }) => name), ...PLAYER_NAMES]}
        labels={{ [BY_HAND]: 'you, by hand' }}
        hint={state.by === BY_HAND ? 'Continues from the current slot.' : policyWords(state.by)}
        onChange={setPlayer}
      />
    </div>
  );
}

export function PersonView(props: ViewProps<typeof PERSON_FIELDS>) {
  const { state } = props;
  const address = addressOf(state);
  const playingAt = useSignal<string | null>(null);
  const replay = (): void => void follow(state);
  useLayoutEffect(() => {
    // Continuous play ends when the user goes to another address. It does not resume when the user returns.
    if (playingAt.peek() !== address) playingAt.value = null;
    replay();
    return stopFollowing;
  }, [address]);
  const actions = episodeActions(props, playingAt);
  useShortcuts({ u: actions.undo, n: actions.newSeed });
  const episode = currentEpisode.value;
  useRivals(settingOf(state), state.against, state.moves.length + state.at);
  return (
    <div class="person" style={{ '--player': colourOf(state.by) }}>
      <h1>You have one week with a stranger. Watch how they respond, and find out who they are.</h1>
      {failure.value !== null && <FailureMessage failure={failure.value} retry={replay} />}
      {failure.value === null && episode === null && <Loading>Starting the week …</Loading>}
      {episode !== null && <Week episode={episode} actions={actions} />}
    </div>
  );
}

/** The state whose seed, person and grader a shared link changes. */
const START = startState(PERSON_FIELDS);

interface WeekProps {
  readonly episode: EpisodeSoFar;
  readonly actions: EpisodeActions;
}

function Week(props: WeekProps) {
  const { episode, actions } = props;
  const { seed, person, grader, by, against } = actions.state;
  const wasRunning = useRef(false);
  wasRunning.current ||= episode.result === null;
  return (
    <>
      <Announcements episode={episode} playing={actions.playing} />
      <div class="week" aria-busy={isOutdated(episode, actions.state)}>
        {episode.result !== null ? (
          <Result
            episode={episode}
            result={episode.result}
            finishedHere={wasRunning.current}
            player={by}
            rivals={rivalNames(episode.setting.grader, against)}
            title="Can you read a stranger?"
            link={new URL(addressOf({ ...START, seed, person, grader }), location.href).href}
          />
        ) : by === BY_HAND ? (
          <ByHand key={`${seed} ${person}`} {...props} />
        ) : (
          <Watching {...props} />
        )}
        <div class="bar">
          <Strip episode={episode} />
          {(episode.result !== null || by !== BY_HAND) && <Undo actions={actions} />}
          <Button onClick={actions.restart}>Start again</Button>
          <Button onClick={actions.newSeed}>Another person</Button>
        </div>
        <div class="folds">
          <Setting actions={actions} />
          <Folds
            episode={episode}
            player={by}
            against={against}
            race={actions.setRival}
            keys={
              <>
                , <kbd>u</kbd> undoes, <kbd>n</kbd> chooses another person, <kbd>s</kbd> steps, <kbd>p</kbd>{' '}
                plays
              </>
            }
          />
        </div>
      </div>
    </>
  );
}

const Undo = ({ actions }: { readonly actions: EpisodeActions }) => (
  <Button onClick={actions.undo} disabled={!actions.canUndo}>
    Undo
  </Button>
);

/** Each action states the belief of the sliders, once one was moved. */
function ByHand({ episode, actions }: WeekProps) {
  const { moves, against } = actions.state;
  const belief = useSignal(sliderBeliefAfter(moves));
  const act = (action: number): void => actions.act({ action, belief: statedBelief(belief.value) });
  const other = against === NOBODY ? inferredOutline() : rivalOutline(episode, against);
  return (
    <Playing episode={episode} belief={belief} other={other} act={act} undo={<Undo actions={actions} />} />
  );
}

/** A policy plays. */
function Watching({ episode, actions }: WeekProps) {
  const { seed, person, by } = actions.state;
  const next = adviceAt(addressOf(actions.state));
  const values = (next ?? episode.moves.at(-1))?.belief ?? null;
  const outlines: (Outline | null)[] = [
    values && { kind: 'filled', label: by, values, colour: 'var(--player)' },
    inferredOutline(),
  ];
  return (
    <div class="board">
      <Now episode={episode} />
      <ByPolicy key={`${seed} ${person} ${by}`} actions={actions} next={next} />
      <PolicyBelief outlines={outlines.filter((outline) => outline !== null)} />
    </div>
  );
}
