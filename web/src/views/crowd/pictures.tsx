/** The crowd in pictures: the meters over the week, how scores are spread, what they are made of. */
import { useMemo } from 'preact/hooks';
import { drawBands } from '../../../../src/pictures/bands.js';
import { drawComponents } from '../../../../src/pictures/components.js';
import { drawHistogram } from '../../../../src/pictures/histogram.js';
import { BANDED, type Crowd } from '../../engine/crowd/request.js';
import { Chart, type ChartProps } from '../../parts/chart.js';
import { bandsTable, componentsTable, histogramTable } from './tables.js';
import { count } from './words.js';

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

function chartsOf({ players, request }: Crowd): readonly ChartProps[] {
  const notes =
    request.people > BANDED
      ? [
          `These are the first ${count(BANDED)} of ${count(request.people)} people; the scores below are of all.`,
        ]
      : [];
  return [
    {
      draw: (room) => drawBands({ rows: players, notes, room }),
      table: bandsTable(players),
    },
    {
      draw: (room) =>
        drawHistogram({
          rows: players.map(({ name, counts, score }) => ({ name, counts, mean: score.mean })),
          room,
        }),
      table: histogramTable(players),
    },
    {
      draw: (room) =>
        drawComponents({
          title: `What grader ${request.grader} adds up`,
          rows: players,
          room,
        }),
      table: componentsTable(players),
    },
  ];
}
