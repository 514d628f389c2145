/** Charts of the crowd: the meters over the week, and the components of scores. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { componentsInWords } from '../../../../src/figures/components.js';
import { type Bands, PERCENTILES } from '../../../../src/figures/episode-means.js';
import { bandsInWords } from '../../../../src/figures/meter-bands.js';
import { METER_NAMES, NUM_METERS, NUM_STEPS } from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { type Panel, Panels } from '../../charts/panels.js';
import { colourOf, isRepeated } from '../../charts/policy-colours.js';
import { ScoreParts } from '../../charts/score-parts.js';
import { grouped } from '../../parts/grouped.js';
import { plain, title } from '../../person/descriptions.js';
import { timeOf } from '../../person/transitions.js';
import type { NamedCrowd } from './format.js';
import { bandsTable, componentsTable } from './tables.js';

type Policies = NamedCrowd['policies'];

export function MetersPicture({ crowd: { policies } }: { readonly crowd: NamedCrowd }) {
  const cursor = useSignal<number | null>(null);
  const meters = useMemo(() => panelsOf(policies), [policies]);
  const description = useMemo(() => bandsInWords(policies), [policies]);
  return (
    <section class="panel">
      <Panels
        title="The meters over the week"
        notes={[
          `Line: the median after each slot. Band: the middle 80 % of ${grouped(policies[0].bands.episodes)} people. Dashed: ${RHYTHM.constants.crashThreshold}, below which a meter counts as crashed. Shaded: the second half.`,
        ]}
        description={description}
        panels={meters}
        points={NUM_STEPS}
        cursor={cursor}
        nameOf={(step) => title(timeOf(step))}
        table={bandsTable(policies)}
      />
    </section>
  );
}

export const PartsPicture = ({ crowd: { policies, request } }: { readonly crowd: NamedCrowd }) => (
  <section class="panel">
    <ScoreParts
      title={`What the mean score is made of, under grader ${request.grader}`}
      description={plain(componentsInWords(policies))}
      rows={policies}
      table={componentsTable(policies)}
    />
  </section>
);

const panelsOf = (policies: Policies): Panel[] =>
  METER_NAMES.map((name, meter) => ({
    name,
    domain: [0, 1],
    ticks: [0, 0.5, 1],
    thresholds: [RHYTHM.constants.crashThreshold],
    series: policies.map(({ name, code, bands }, k) => ({
      name,
      colour: colourOf(code),
      dashed: isRepeated(namesOf(policies), k),
      values: percentile(bands, 50, meter),
      band: [percentile(bands, 10, meter), percentile(bands, 90, meter)],
    })),
  }));

const namesOf = (policies: Policies): string[] => policies.map(({ name }) => name);

/** Returns a percentile of a meter after each step. */
function percentile({ values }: Bands, which: (typeof PERCENTILES)[number], meter: number): number[] {
  const first = PERCENTILES.indexOf(which) * NUM_STEPS;
  return Array.from({ length: NUM_STEPS }, (_, step) => values[(first + step) * NUM_METERS + meter]);
}
