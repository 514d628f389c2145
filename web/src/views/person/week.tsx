/** The parts of a week that the views of one person and of the day share: play by hand, the strip of slots, the folded charts. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { Announcement } from '../../parts/content.js';
import { Select } from '../../parts/controls.js';
import { announce, slotInWords } from '../../person/descriptions.js';
import { type Move, NOBODY, PLAYER_NAMES, sliderBeliefAfter, statedBelief } from '../../person/episode.js';
import { keptNames } from '../../students/kept-students.js';
import { colourOf, policyLabel, policyName } from '../../words.js';
import { Belief, type Outline, outlineOf } from './belief.js';
import { Actions, Now } from './board.js';
import { type EpisodeSoFar, inferred, rivalsIn } from './episode-store.js';
import { ActionKeys, KeysChoice } from './keys.js';
import { Timeline } from './timeline.js';

interface ByHandProps {
  readonly episode: EpisodeSoFar;
  /** The moves so far, after which the sliders are as at the last move. */
  readonly moves: readonly Move[];
  /** The belief beside the visitor's; null for none. */
  readonly other: Outline | null;
  readonly act: (move: Move) => void;
  /** The button Undo, where there is one. */
  readonly undo?: ComponentChildren;
}

/** The board of a visitor who plays by hand. Each action states the belief of the sliders, once one was moved. */
export function ByHand({ episode, moves, other, act, undo }: ByHandProps) {
  const belief = useSignal(sliderBeliefAfter(moves));
  const choose = (action: number): void => act({ action, belief: statedBelief(belief.value) });
  return (
    <div class="board">
      <Now episode={episode} />
      <Actions episode={episode} act={choose} undo={undo} />
      <Belief belief={belief} other={other} steps={episode.moves.length} />
    </div>
  );
}

/** Returns the outline of what the planner would believe after the same observations; null until it is computed. */
export function inferredOutline(): Outline | null {
  const values = inferred.value.at(-1) ?? null;
  const colour = colourOf('planner+inference');
  return values && outlineOf('dashed', 'the planner, from what you saw', values, colour);
}

/** Returns the outline of a rival's belief after as many slots; null if there is none. */
export function rivalOutline({ setting, moves }: EpisodeSoFar, against: string): Outline | null {
  const values = rivalsIn(setting)[against]?.rival?.beliefs[moves.length - 1] ?? null;
  const label = `${policyName(against)}, in its own week`;
  return values && outlineOf('dashed', label, values, colourOf(against));
}

/** The 28 slots as a strip of squares. */
export const Strip = ({ episode: { transitions } }: { readonly episode: EpisodeSoFar }) => (
  <ol class="strip" aria-label="The week">
    {Array.from({ length: NUM_STEPS }, (_, step) => {
      const transition = transitions[step + 1];
      const text = slotInWords(step, transition);
      return (
        <li
          key={text}
          class={step === transitions.length - 1 ? 'current' : ''}
          title={text}
          style={{ background: ACTION_STYLES[transition?.action]?.colour }}
        >
          <span class="visually-hidden">{text}</span>
          {transition?.event >= 0 && <span aria-hidden="true">⚡</span>}
        </li>
      );
    })}
  </ol>
);

interface FoldsProps {
  readonly episode: EpisodeSoFar;
  /** Who plays: BY_HAND or a policy. */
  readonly player: string;
  /** The policy to race, or NOBODY. */
  readonly against: string;
  readonly race: (name: string) => void;
  /** What the keys other than those of the actions do. */
  readonly keys?: ComponentChildren;
}

/** The charts of the week, the race and the choice of keys, which are folded at first. */
export function Folds({ episode, player, against, race, keys }: FoldsProps) {
  const [isOpen, setOpen] = useState(false);
  const state = rivalsIn(episode.setting)[against];
  return (
    <>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>The week in charts</summary>
        {isOpen && (
          <Timeline
            episode={episode}
            player={player}
            rival={against === player ? null : (state?.rival ?? null)}
          />
        )}
      </details>
      <details open={against !== NOBODY}>
        <summary>Race and keys</summary>
        <div class="controls">
          <Select
            label="Against"
            value={against}
            names={[NOBODY, ...keptNames(), ...PLAYER_NAMES]}
            labelOf={policyLabel}
            hint="A policy plays the same person with the same luck. The ring shows its belief after as many slots as you have played."
            onChange={race}
          />
          <KeysChoice>
            <ActionKeys /> act{keys}
          </KeysChoice>
        </div>
        {state?.failed && (
          <p class="note">{policyName(against)} could not play this episode. Reload the page to try again.</p>
        )}
        {state?.rival?.given === false && <p class="note">{policyName(against)} states no belief.</p>}
      </details>
    </>
  );
}

/**
 * Milliseconds until a step is announced. A step is not announced if the next step comes sooner, so that speech keeps up.
 * Chosen by hand: a shorter delay interrupts the speech more often, and a longer delay announces steps later.
 */
const DELAY = 250;
/** Milliseconds until a step is announced while a policy plays continuously. Chosen by hand. */
const DELAY_WHILE_PLAYING = 1000;

interface AnnouncementsProps {
  readonly episode: EpisodeSoFar;
  /** Whether a policy plays continuously. */
  readonly playing: boolean;
}

/** Announces each step and the final score to screen readers. */
export function Announcements({ episode: { transitions, result }, playing }: AnnouncementsProps) {
  const score = result === null ? '' : ` Final score ${result.finalScore.toFixed(3)}.`;
  const delay = playing && result === null ? DELAY_WHILE_PLAYING : DELAY;
  return <Announcement text={announce(transitions.at(-1)!) + score} delay={delay} />;
}
