/** The view of one person, whose week is played by hand or by a policy. The profile is shown after the last step only. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { PROFILE_NAMES } from '../../../../src/world/fields.js';
import { startState, type ViewProps } from '../../address.js';
import { FailureMessage, Fold, Loading } from '../../parts/content.js';
import { Button, CopyLink, GraderSelect, Select, TextField } from '../../parts/controls.js';
import { profileWords, title } from '../../person/descriptions.js';
import { BY_HAND, NOBODY, PLAYER_NAMES, PROFILE_CHOICES } from '../../person/episode.js';
import { keptNames } from '../../students/kept-students.js';
import { colourOf, policyWords } from '../../words.js';
import { addressOf, PERSON_FIELDS, type PersonState } from '../fields.js';
import { outlineOf, PolicyBelief } from './belief.js';
import { ByPolicy, Now } from './board.js';
import {
  adviceAt,
  currentEpisode,
  type EpisodeActions,
  type EpisodeSoFar,
  episodeActions,
  failure,
  isOutdated,
  useEpisode,
} from './episode-store.js';
import { useShortcuts } from './keys.js';
import { Result } from './result.js';
import { Announcements, ByHand, Folds, inferredOutline, rivalOutline, Strip } from './week.js';
import './person.css';
import './result.css';

export function View(props: ViewProps<typeof PERSON_FIELDS>) {
  const { state } = props;
  const address = addressOf(state);
  const playingAt = useSignal<string | null>(null);
  useLayoutEffect(() => {
    // Continuous play ends when the user goes to another address. It does not resume when the user returns.
    if (playingAt.peek() !== address) playingAt.value = null;
  }, [address]);
  const replay = useEpisode(state, state.against);
  const actions = episodeActions(props, playingAt);
  useShortcuts({ u: actions.undo, n: actions.newSeed });
  const episode = currentEpisode.value;
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

function Week({ episode, actions }: WeekProps) {
  const { seed, person, grader, by, against, moves } = actions.state;
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
            against={against}
            title="Can you read a stranger?"
            link={new URL(addressOf({ ...START, seed, person, grader }), location.href).href}
          />
        ) : by === BY_HAND ? (
          <ByHand
            key={`${seed} ${person}`}
            episode={episode}
            moves={moves}
            other={against === NOBODY ? inferredOutline() : rivalOutline(episode, against)}
            act={actions.act}
            undo={<Undo actions={actions} />}
          />
        ) : (
          <Watching episode={episode} actions={actions} />
        )}
        <div class="actions">
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

/** A policy plays. */
function Watching({ episode, actions }: WeekProps) {
  const { seed, person, by } = actions.state;
  const next = adviceAt(addressOf(actions.state));
  const values = (next ?? episode.moves.at(-1))?.belief ?? null;
  const outlines = [values && outlineOf('filled', by, values, 'var(--player)'), inferredOutline()];
  return (
    <div class="board">
      <Now episode={episode} />
      <ByPolicy key={`${seed} ${person} ${by}`} actions={actions} next={next} />
      <PolicyBelief outlines={outlines.filter((outline) => outline !== null)} />
    </div>
  );
}

/** Describes the setting in a line: "anybody, seed 4242, grader v2, played by you". */
const settingWords = ({ person, seed, grader, by }: PersonState): string =>
  `${profileWords(person)}, seed ${seed}, grader ${grader}, played by ${by === BY_HAND ? 'you' : by}`;

const Setting = ({ actions: { state, set, setPlayer } }: Pick<WeekProps, 'actions'>) => (
  <Fold title={`Setting: ${settingWords(state)}`}>
    <div class="controls">
      <Select
        label="Person"
        value={state.person}
        names={PROFILE_CHOICES}
        labelOf={(name) => title(profileWords(name))}
        hint={
          PROFILE_NAMES.includes(state.person)
            ? 'You named the person, so nothing is hidden.'
            : 'The seed determines the person.'
        }
        onChange={(person) => set({ person })}
      />
      <TextField
        label="Seed"
        field={PERSON_FIELDS.seed}
        value={state.seed}
        hint="The same seed gives the same person and luck."
        onChange={(seed) => set({ seed })}
      />
      <GraderSelect value={state.grader} onChange={(grader) => set({ grader })} />
      <Select
        label="Played by"
        value={state.by}
        names={[BY_HAND, ...keptNames(), ...PLAYER_NAMES]}
        labelOf={(name) => (name === BY_HAND ? 'you, by hand' : name)}
        hint={state.by === BY_HAND ? 'Continues from the current slot.' : policyWords(state.by)}
        onChange={setPlayer}
      />
    </div>
    <div class="actions">
      <CopyLink view={{ name: 'person', fields: PERSON_FIELDS }} />
    </div>
  </Fold>
);
