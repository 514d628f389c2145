/** What a policy will do next, and why; it goes on by itself, or step by step. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ACTION_NAMES, BELIEF_NAMES } from '../../../../src/world/fields.js';
import { Button } from '../../parts/controls.js';
import { BY_HAND, thinksLong } from '../../person/names.js';
import type { Advice } from '../../person/week.js';
import { title } from '../../person/words.js';
import { useShortcuts } from './keys.js';
import type { Week } from './week.js';

/** Milliseconds that a step is looked at. */
const PACE = 650;

interface ByPolicyProps {
  readonly week: Week;
  /** Null while it thinks. */
  readonly next: Advice | null;
  readonly shortcuts: boolean;
}

export function ByPolicy({ week, next, shortcuts }: ByPolicyProps) {
  const { playing, step, playOrPause, state } = week;
  // While it thinks, what it last said stands there, dimmed: else the page would jump at every step.
  const last = useRef<Advice | null>(null);
  const shown = next ?? last.current;
  last.current = shown;
  const stepOnce = (): void => {
    if (next !== null) step();
  };
  useShortcuts(shortcuts, { p: playOrPause, s: stepOnce });
  useLayoutEffect(() => {
    if (!playing || next === null) return;
    const timer = setTimeout(step, PACE);
    return () => clearTimeout(timer);
  }, [playing, next]);
  return (
    <section class="panel next" aria-labelledby="next">
      <h2 id="next">What {state.by} does next</h2>
      <div class={next === null && shown !== null ? 'stale' : ''} aria-busy={next === null}>
        {shown === null ? <Thinking by={state.by} /> : <NextMove next={shown} />}
      </div>
      <div class="actions">
        <Button main onClick={playOrPause}>
          {playing ? 'Pause' : 'Play'}
        </Button>
        <Button onClick={stepOnce} disabled={next === null}>
          Step
        </Button>
        <Button onClick={() => week.playedBy(BY_HAND)}>Take over by hand</Button>
      </div>
    </section>
  );
}

const Thinking = ({ by }: { readonly by: string }) => (
  <p class="thinking">
    {thinksLong(by)
      ? 'Imagining weeks with whom this might be: some tenths of a second a step …'
      : 'Deciding …'}
  </p>
);

function NextMove({ next: { action, belief, reasons } }: { readonly next: Advice }) {
  return (
    <>
      <p class="next-move">
        <strong>{title(ACTION_NAMES[action])}</strong>
      </p>
      {reasons === null ? <p class="fine">It gives no reasons.</p> : <blockquote>{reasons}</blockquote>}
      {belief === null ? (
        <p class="fine">It says nothing of the person.</p>
      ) : (
        <dl class="believed">
          {BELIEF_NAMES.map((name, k) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{belief[k].toFixed(2)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
