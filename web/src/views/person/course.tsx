/** The week's course, as far as it was lived: a picture, and its steps as a table. */
import { useCallback } from 'preact/hooks';
import { drawTimeline } from '../../../../src/pictures/timeline.js';
import type { TimelineWeek } from '../../../../src/pictures/timeline-week.js';
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES } from '../../../../src/world/fields.js';
import { Chart } from '../../parts/chart.js';
import type { TableProps } from '../../parts/table.js';
import { timeOf } from '../../person/reading.js';
import { plain, signed } from '../../person/words.js';
import type { Shown } from './follow.js';

export function Course({ shown }: { readonly shown: Shown }) {
  const draw = useCallback(
    (room: number) =>
      drawTimeline({
        title: 'The week so far',
        ...(shown.ending !== null && { title: 'The whole week' }),
        room,
        week: timelineOf(shown),
      }),
    [shown],
  );
  return (
    <section class="panel" aria-label="The week’s course">
      <Chart draw={draw} table={stepsOf(shown)} />
    </section>
  );
}

/** The truth stands in it at the end only: before, nobody here knows it. */
function timelineOf({ moves, moments, ending }: Shown): TimelineWeek {
  const steps = moments.slice(1);
  const anyBelief = moves.some(({ belief }) => belief !== null);
  return {
    actions: moves.map(({ action }) => action),
    meters: moments.flatMap(({ meters }) => meters),
    events: steps.map(({ event }) => event),
    rewards: steps.map(({ reward }) => reward),
    ...(anyBelief && { beliefs: moves.flatMap(({ belief }) => belief ?? [NaN, NaN, NaN]) }),
    ...(ending !== null && { target: ending.target }),
  };
}

function stepsOf({ moves, moments }: Shown): TableProps {
  return {
    caption: 'Every step: meters after it, with its change and what of that is personal or luck',
    columns: ['step', 'when', 'action', 'event', 'reward', 'belief', ...METER_NAMES],
    rows: moments
      .slice(1)
      .map(({ step, action, event, reward, meters, deltas, anomalies }, i) => [
        String(step),
        timeOf(i),
        plain(ACTION_NAMES[action]),
        event < 0 ? '–' : plain(EVENT_NAMES[event]),
        signed(reward),
        moves[i]?.belief?.map((each) => each.toFixed(2)).join(' ') ?? '–',
        ...meters.map((meter, k) => `${meter.toFixed(2)} (${signed(deltas[k])}, ${signed(anomalies[k], 3)})`),
      ]),
  };
}
