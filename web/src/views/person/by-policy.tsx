/** The next move of a policy, with its reasons, and buttons to let the policy play continuously or step by step. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ACTION_NAMES } from '../../../../src/world/fields.js';
import { Button } from '../../parts/controls.js';
import { title } from '../../person/descriptions.js';
import type { Advice } from '../../person/episode-types.js';
import { BY_HAND, isSlow } from '../../person/player-names.js';
import { policyName } from '../../words.js';
import type { EpisodeActions } from './episode-actions.js';
import { useShortcuts } from './keys.js';

/** Milliseconds between two steps of continuous play. Chosen by hand: time to read a move, and 18 s for an episode. */
const PACE = 650;

interface ByPolicyProps {
  readonly actions: EpisodeActions;
  /** Null while the policy computes. */
  readonly next: Advice | null;
}

export function ByPolicy({ actions, next }: ByPolicyProps) {
  const { playing, step, playOrPause, state } = actions;
  // While the policy computes, the last move stays, dimmed, so that the layout does not jump.
  const last = useRef<Advice | null>(null);
  const move = next ?? last.current;
  last.current = move;
  const stepOnce = (): void => {
    if (next !== null) step();
  };
  useShortcuts({ p: playOrPause, s: stepOnce });
  useLayoutEffect(() => {
    if (!playing || next === null) return;
    const timer = setTimeout(step, PACE);
    return () => clearTimeout(timer);
  }, [playing, next]);
  return (
    <section class="panel next" aria-labelledby="next">
      <h2 id="next">What {inSentence(policyName(state.by))} does next</h2>
      <div class={next === null && move !== null ? 'stale' : ''} aria-busy={next === null}>
        {move === null ? <Waiting by={state.by} /> : <NextMove next={move} />}
      </div>
      <div class="actions">
        <Button main onClick={playOrPause}>
          {playing ? 'Pause' : 'Play'}
        </Button>
        <Button onClick={stepOnce} disabled={next === null}>
          Step
        </Button>
        <Button onClick={() => actions.setPlayer(BY_HAND)}>Take over by hand</Button>
      </div>
    </section>
  );
}

/** "the planner", but “daily rules of thumb”. */
const inSentence = (name: string): string =>
  /^(planner|student)\b/.test(name) ? `the ${name}` : `“${name}”`;

const Waiting = ({ by }: { readonly by: string }) => (
  <p class="thinking">{isSlow(by) ? 'Planning: some tenths of a second a step …' : 'Deciding …'}</p>
);

function NextMove({ next: { action, belief, reasons } }: { readonly next: Advice }) {
  return (
    <>
      <p class="next-move">
        <strong>{title(ACTION_NAMES[action])}</strong>
      </p>
      {reasons === null ? <p class="fine">It gives no reasons.</p> : <blockquote>{reasons}</blockquote>}
      {belief === null && <p class="fine">It states no belief.</p>}
    </>
  );
}
