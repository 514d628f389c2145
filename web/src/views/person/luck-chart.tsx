/** Draws how much each change differs from that of an average person (the anomaly), over bands of what luck explains. */
import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { METER_NAMES, NUM_STEPS } from '../../../../src/world/fields.js';
import { type Panel, Panels } from '../../charts/panels.js';
import { useStages } from '../../parts/use-stages.js';
import { signed } from '../../person/descriptions.js';
import { isPersonal, LUCK, luckInWords } from '../../person/luck.js';
import type { Transition } from '../../person/transitions.js';

interface LuckChartProps {
  /** The first transition is the state after the reset. */
  readonly transitions: readonly Transition[];
  /** The step under the crosshair, which other charts share; null for none. */
  readonly cursor: Signal<number | null>;
  /** Describes a step. */
  readonly nameOf: (step: number) => string;
}

const NOTE =
  'Bars: how much each change differs from the change of an average person. Inner band: what luck usually does, one standard ' +
  'deviation. Outer band: the most that luck can do. A bar that ends beyond ' +
  'the outer band is more than luck: a part of it comes from the person. The bars leave out the effects of events.';

/** Draws the chart in a task of its own, after the rest of the section, so that no task is long. */
export function LuckChart({ transitions, ...rest }: LuckChartProps) {
  const [shown] = useStages(transitions, 1);
  return shown === null || shown.length < 2 ? null : <Chart transitions={shown} {...rest} />;
}

function Chart({ transitions, cursor, nameOf }: LuckChartProps) {
  const panels = useMemo(() => panelsOf(transitions), [transitions]);
  const description = useMemo(() => luckInWords(transitions.slice(1)), [transitions]);
  return (
    <Panels
      title="The person or luck?"
      notes={[NOTE]}
      description={description}
      panels={panels}
      points={NUM_STEPS + 1}
      last={transitions.length - 1}
      cursor={cursor}
      nameOf={nameOf}
      sliderName="Read the chart of luck at"
    />
  );
}

/** The axis reaches at least from minus this value to this value. */
const MIN_END = 0.1;

function panelsOf(transitions: readonly Transition[]): Panel[] {
  const largest = Math.max(...transitions.flatMap(({ anomalies }) => anomalies.map(Math.abs)));
  const end = Math.max(MIN_END, Math.ceil(largest * 10) / 10);
  return METER_NAMES.map((name, k) => {
    const { usual, most } = LUCK[k];
    const values = transitions.map(({ step, anomalies }) => (step === 0 ? Number.NaN : anomalies[k]));
    const explained = values.map((value) => (isPersonal(value, k) ? Number.NaN : value));
    const personal = values.map((value) => (isPersonal(value, k) ? value : Number.NaN));
    return {
      name,
      domain: [-end, end],
      ticks: [-end, 0, end],
      ranges: [most, usual].map((width) => [-width, width] as const),
      series: [
        { name: 'luck can explain it', colour: 'var(--muted)', values: explained, stems: true },
        { name: 'more than luck', colour: 'var(--series)', values: personal, stems: true },
      ],
      format: (value) => signed(value, 3),
      inWords: (step) => wordsOf(values[step], k),
    };
  });
}

const wordsOf = (anomaly: number, meter: number): string =>
  Number.isFinite(anomaly)
    ? `${signed(anomaly, 3)}, ${isPersonal(anomaly, meter) ? 'more than luck' : 'which luck explains'}`
    : 'none';
