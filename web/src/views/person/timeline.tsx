/** The week so far: a table of steps, and charts with one crosshair: meters, events, reward and beliefs. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import {
  ACTION_NAMES,
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_STEPS,
} from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { useStages } from '../../charts/figure.js';
import { type Panel, Panels } from '../../charts/panels.js';
import type { TableProps } from '../../parts/content.js';
import { plain, signed, slotInWords, timeOf } from '../../person/descriptions.js';
import type { Move, Rival } from '../../person/episode.js';
import { BY_HAND } from '../../person/episode.js';
import { colourOf } from '../../words.js';
import type { EpisodeSoFar } from './episode-store.js';

interface TimelineProps {
  readonly episode: EpisodeSoFar;
  /** Who plays: BY_HAND or a policy. */
  readonly player: string;
  /** Whose belief is drawn beside the player's, up to the same slot; null for nobody. */
  readonly rival: Rival | null;
}

/** Draws the week in a task of its own, after the rest of the view, so that no task is long. */
export function Timeline({ episode, player, rival }: TimelineProps) {
  const [shown] = useStages(episode, 1);
  return useMemo(
    () => shown && <Week episode={shown} player={player} rival={rival} />,
    [shown, player, rival],
  );
}

function Week({ episode, player, rival }: TimelineProps) {
  const { moves, transitions, result } = episode;
  const cursor = useSignal<number | null>(null);
  const panels = panelsOf(episode, player, rival);
  return (
    <section aria-label="The timeline of the week">
      <Panels
        title="Meters, reward and belief"
        notes={[result === null ? NOTE : `${NOTE} Dashed in the belief: the truth.`]}
        description={`${panels.map(({ name }) => name).join(', ')} by slot. The table has the numbers.`}
        panels={panels}
        points={NUM_STEPS + 1}
        last={moves.length}
        cursor={cursor}
        nameOf={(step) => (step === 0 ? 'The start' : slotInWords(step - 1, transitions[step]))}
        table={stepsOf(episode, rival)}
        events={transitions.filter(({ event }) => event >= 0).map(({ step }) => step)}
      />
    </section>
  );
}

const NOTE =
  `▼ marks events. Dashed in the meters: ${RHYTHM.constants.crashThreshold}, below which a meter counts as crashed. ` +
  'Shaded: the second half.';

/** Returns the panels of the meters and the reward, and those of the beliefs if one was stated. */
function panelsOf(episode: EpisodeSoFar, player: string, rival: Rival | null): Panel[] {
  const { moves, transitions, result } = episode;
  const unitAxis = { domain: [0, 1], ticks: [0, 0.5, 1] } as const;
  const panel = (name: string, values: readonly number[]) => ({
    name,
    ...unitAxis,
    series: [{ name, colour: 'var(--player)', values }],
  });
  const meters = METER_NAMES.map((name, k) => ({
    ...panel(
      name,
      transitions.map(({ meters }) => meters[k]),
    ),
    thresholds: [RHYTHM.constants.crashThreshold],
  }));
  const rewards = [NaN, ...transitions.slice(1).map(({ reward }) => reward)];
  const largest = Math.ceil(Math.max(1, ...rewards.slice(1).map(Math.abs)));
  const reward: Panel = {
    ...panel('reward', rewards),
    domain: [-largest, largest],
    ticks: [-largest, 0, largest],
    thresholds: [0],
  };
  const name = player === BY_HAND ? 'you' : player;
  const mine = { name, colour: 'var(--player)', beliefs: moves.map(({ belief }) => belief) };
  const theirs = rival && {
    ...{ name: rival.name, colour: colourOf(rival.name) },
    dashed: colourOf(rival.name) === colourOf(player),
    beliefs: rival.beliefs.slice(0, moves.length),
  };
  const lines = theirs ? [mine, theirs] : [mine];
  if (lines.every(({ beliefs }) => beliefs.every((belief) => belief === null))) return [...meters, reward];
  const beliefs = BELIEF_NAMES.map((name, k) => ({
    name: `belief: ${name}`,
    ...unitAxis,
    series: lines.map((line) => ({
      ...line,
      values: [NaN, ...line.beliefs.map((belief) => belief?.[k] ?? NaN)],
    })),
    ...(result !== null && { thresholds: [result.target[k]] }),
  }));
  return [...meters, reward, ...beliefs];
}

function stepsOf({ moves, transitions }: EpisodeSoFar, rival: Rival | null): TableProps {
  const theirs = (i: number): string[] => (rival === null ? [] : [beliefInWords(rival.beliefs[i])]);
  return {
    caption:
      'Every step: the meters after it; in brackets, the change of each meter and the personal or random part of the change',
    columns: [
      ...['step', 'when', 'action', 'event', 'reward', 'belief', ...METER_NAMES],
      ...(rival === null ? [] : [`belief of ${rival.name}`]),
    ],
    rows: transitions
      .slice(1)
      .map(({ step, action, event, reward, meters, deltas, anomalies }, i) => [
        String(step),
        timeOf(i),
        plain(ACTION_NAMES[action]),
        event < 0 ? '–' : plain(EVENT_NAMES[event]),
        signed(reward),
        beliefInWords(moves[i]?.belief),
        ...meters.map((meter, k) => `${meter.toFixed(2)} (${signed(deltas[k])}, ${signed(anomalies[k], 3)})`),
        ...theirs(i),
      ]),
  };
}

const beliefInWords = (belief: Move['belief'] | undefined): string =>
  belief?.map((each) => each.toFixed(2)).join(' ') ?? '–';
