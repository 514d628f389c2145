/** One person's week, by hand or by policy; who the person was is shown at its end, and not before. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { BY_HAND } from '../../person/names.js';
import { FailureFace, Loading } from '../../states/faces.js';
import type { ViewProps } from '../view.js';
import { BeliefSliders } from './belief.js';
import { ByHand } from './by-hand.js';
import { ByPolicy } from './by-policy.js';
import { Course } from './course.js';
import { addressOf, type PERSON_FIELDS } from './fields.js';
import { adviceAt, failure, follow, isAnothers, type Shown, shown, unfollow } from './follow.js';
import { useShortcuts } from './keys.js';
import { Now } from './now.js';
import { Over } from './over.js';
import { SettingPanel } from './setting.js';
import { Told } from './told.js';
import { type Week, weekOf } from './week.js';
import '../../parts/marks.css';
import './now.css';
import './over.css';
import './person.css';

export function PersonView(props: ViewProps<typeof PERSON_FIELDS>) {
  const { state } = props;
  const address = addressOf(state);
  const playsAt = useSignal<string | null>(null);
  const again = (): void => void follow(state);
  useLayoutEffect(() => {
    // Also when it is come back to.
    if (playsAt.peek() !== address) playsAt.value = null;
    again();
    return unfollow;
  }, [address]);
  const shortcuts = useSignal(true);
  const week = weekOf(props, playsAt);
  useShortcuts(shortcuts.value, { u: week.undo, n: week.anotherPerson });
  return (
    <div class="person">
      <h1>One person</h1>
      <p class="lead">
        A week of 28 slots with somebody whom you do not know. Everybody responds differently: watch what each
        action does, say whom you believe to have before you, and see at the end who it was.
      </p>
      <SettingPanel week={week} shortcuts={shortcuts} />
      {failure.value !== null && <FailureFace failure={failure.value} retry={again} />}
      {failure.value === null && shown.value === null && <Loading>Beginning the week …</Loading>}
      {shown.value !== null && <ShownWeek shown={shown.value} week={week} shortcuts={shortcuts.value} />}
    </div>
  );
}

interface ShownWeekProps {
  readonly shown: Shown;
  readonly week: Week;
  readonly shortcuts: boolean;
}

function ShownWeek(props: ShownWeekProps) {
  const { shown, week } = props;
  const { seed, person, by } = week.state;
  const ran = useRef(false);
  ran.current ||= shown.ending === null;
  return (
    <>
      <Told shown={shown} playing={week.playing} />
      <div class="week" aria-busy={isAnothers(shown, week.state)}>
        {shown.ending !== null ? (
          <Over shown={shown} ending={shown.ending} seen={ran.current} />
        ) : by === BY_HAND ? (
          <HandAndBelief key={`${seed} ${person}`} {...props} />
        ) : (
          <div class="now-and-next">
            <Now shown={shown} />
            <ByPolicy
              key={`${seed} ${person} ${by}`}
              week={week}
              next={adviceAt(addressOf(week.state))}
              shortcuts={props.shortcuts}
            />
          </div>
        )}
        <Course shown={shown} />
      </div>
    </>
  );
}

const NOBODY = [0.5, 0.5, 0.5];

/** Both columns know the belief: the left one has its sliders, and with an action of the right one it is said. */
function HandAndBelief({ shown, week, shortcuts }: ShownWeekProps) {
  const last = week.state.moves.at(-1);
  const belief = useSignal<readonly number[]>(last?.belief ?? NOBODY);
  const stated = useSignal(last === undefined || last.belief !== null);
  const act = (action: number): void => week.act({ action, belief: stated.value ? belief.value : null });
  return (
    <div class="now-and-next">
      <div class="column">
        <Now shown={shown} />
        <BeliefSliders belief={belief} stated={stated} />
      </div>
      <ByHand shown={shown} act={act} shortcuts={shortcuts} />
    </div>
  );
}
