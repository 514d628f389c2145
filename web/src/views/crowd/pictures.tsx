/** Pictures of the crowd: the meters over the week, the histogram of scores, the components of scores. */
import { useMemo } from 'preact/hooks';
import { drawComponents } from '../../../../src/figures/components.js';
import { drawHistogram } from '../../../../src/figures/histogram.js';
import { drawBands } from '../../../../src/figures/meter-bands.js';
import { BAND_EPISODES, type Crowd } from '../../engine/crowd/crowd-request.js';
import { Chart, type ChartProps } from '../../parts/chart.js';
import { count } from './format.js';
import { bandsTable, componentsTable, histogramTable } from './tables.js';

export function CrowdPictures({ crowd }: { readonly crowd: Crowd }) {
  const charts = useMemo(() => chartsOf(crowd), [crowd]);
  return (
    <>
      {charts.map((chart, k) => (
        <section class="panel" key={k}>
          <Chart {...chart} />
        </section>
      ))}
    </>
  );
}

function chartsOf({ policies, request }: Crowd): readonly ChartProps[] {
  const notes =
    request.numEpisodes > BAND_EPISODES
      ? [
          `Of the first ${count(BAND_EPISODES)} of ${count(request.numEpisodes)} people; the scores below are of all.`,
        ]
      : [];
  return [
    {
      draw: (width) => drawBands({ rows: policies, notes, maxWidth: width }),
      table: bandsTable(policies),
    },
    {
      draw: (width) =>
        drawHistogram({
          rows: policies.map(({ name, counts, score }) => ({ name, counts, mean: score.mean })),
          maxWidth: width,
        }),
      table: histogramTable(policies),
    },
    {
      draw: (width) =>
        drawComponents({
          title: `Parts of the mean score under grader ${request.grader}`,
          rows: policies,
          maxWidth: width,
        }),
      table: componentsTable(policies),
    },
  ];
}
