/** The timeline of the episode so far: a picture, and the steps as a table. */
import { useCallback } from 'preact/hooks';
import { drawTimeline } from '../../../../src/figures/timeline.js';
import type { TimelineEpisode } from '../../../../src/figures/timeline-episode.js';
import { ACTION_NAMES, EVENT_NAMES, METER_NAMES } from '../../../../src/world/fields.js';
import { Chart } from '../../parts/chart.js';
import type { TableProps } from '../../parts/table.js';
import { plain, signed } from '../../person/descriptions.js';
import { timeOf } from '../../person/transitions.js';
import type { EpisodeSoFar } from './episode-store.js';

export function Timeline({ episode }: { readonly episode: EpisodeSoFar }) {
  const draw = useCallback(
    (width: number) =>
      drawTimeline({
        title: 'The week so far',
        ...(episode.result !== null && { title: 'The whole week' }),
        maxWidth: width,
        episode: timelineOf(episode),
      }),
    [episode],
  );
  return (
    <section class="panel" aria-label="The timeline of the week">
      <Chart draw={draw} table={stepsOf(episode)} />
    </section>
  );
}

/** Returns the data of the timeline. It has the true belief target after the last step; before, the page does not know it. */
function timelineOf({ moves, transitions, result }: EpisodeSoFar): TimelineEpisode {
  const steps = transitions.slice(1);
  const anyBelief = moves.some(({ belief }) => belief !== null);
  return {
    actions: moves.map(({ action }) => action),
    meters: transitions.flatMap(({ meters }) => meters),
    events: steps.map(({ event }) => event),
    rewards: steps.map(({ reward }) => reward),
    ...(anyBelief && { beliefs: moves.flatMap(({ belief }) => belief ?? [NaN, NaN, NaN]) }),
    ...(result !== null && { target: result.target }),
  };
}

function stepsOf({ moves, transitions }: EpisodeSoFar): TableProps {
  return {
    caption:
      'Every step: the meters after it, with their changes, and the personal or random part of each change',
    columns: ['step', 'when', 'action', 'event', 'reward', 'belief', ...METER_NAMES],
    rows: transitions
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
