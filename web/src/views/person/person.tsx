/** One person's week, by hand or by policy; who the person was is shown at its end, and not before. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { toAddress } from '../../address.js';
import { BY_HAND } from '../../person/names.js';
import { isOver } from '../../person/week.js';
import { FailureFace, Loading } from '../../states/faces.js';
import type { ViewProps } from '../view.js';
import { ByHand } from './by-hand.js';
import { ByPolicy } from './by-policy.js';
import { Course } from './course.js';
import { EndingPanels } from './ending.js';
import { PERSON_FIELDS } from './fields.js';
import { failure, follow, type Shown, shown } from './follow.js';
import { useShortcuts } from './keys.js';
import { Now } from './now.js';
import { SettingPanel } from './setting.js';
import { Told } from './told.js';
import { type Week, weekOf } from './week.js';
import './person.css';

export function PersonView(props: ViewProps<typeof PERSON_FIELDS>) {
  const { state } = props;
  const address = toAddress('person', PERSON_FIELDS, state);
  const again = (): void => void follow(state);
  useEffect(again, [address]);
  const playing = useSignal(false);
  const shortcuts = useSignal(true);
  const week = weekOf(props, shown.value, playing);
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
      {shown.value !== null && <ShownWeek shown={shown.value} week={week} shortcuts={shortcuts} />}
    </div>
  );
}

interface ShownWeekProps {
  readonly shown: Shown;
  readonly week: Week;
  readonly shortcuts: Signal<boolean>;
}

function ShownWeek({ shown, week, shortcuts }: ShownWeekProps) {
  const { seed, person, by } = week.state;
  return (
    <>
      <Told shown={shown} />
      <div class="now-and-next">
        <Now shown={shown} />
        {!isOver(shown.moves) && by === BY_HAND && (
          <ByHand key={`${seed} ${person}`} shown={shown} week={week} shortcuts={shortcuts.value} />
        )}
        {!isOver(shown.moves) && by !== BY_HAND && <ByPolicy week={week} shortcuts={shortcuts.value} />}
      </div>
      {shown.ending !== null && <EndingPanels shown={shown} ending={shown.ending} />}
      <Course shown={shown} />
    </>
  );
}
