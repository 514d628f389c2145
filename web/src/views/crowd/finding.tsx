/** The main result of a crowd: a headline, numbers, and a histogram of the scores. */
import { useMemo } from 'preact/hooks';
import { histogramInWords } from '../../../../src/figures/histogram.js';
import { Histogram } from '../../charts/histogram.js';
import { colourOf, isRepeated } from '../../charts/policy-colours.js';
import { grouped } from '../../parts/grouped.js';
import { CrowdFigures } from './figures.js';
import { headlineOf, type NamedCrowd } from './format.js';
import { histogramTable } from './tables.js';

interface FindingProps {
  readonly crowd: NamedCrowd;
  /** Whether this crowd or the next one is still being computed. */
  readonly busy: boolean;
}

export function Finding({ crowd, busy }: FindingProps) {
  const { policies, request } = crowd;
  const chart = useMemo(() => {
    const names = policies.map(({ name }) => name);
    const rows = policies.map(({ name, code, counts, score }, k) => ({
      name,
      counts,
      mean: score.mean,
      colour: colourOf(code),
      dashed: isRepeated(names, k),
    }));
    return {
      rows,
      description: histogramInWords(rows),
      table: histogramTable(policies),
    };
  }, [policies]);
  return (
    <>
      <h2 id="finding">{headlineOf(crowd)}</h2>
      <p class="note">
        Under grader {request.grader}; ± is half of the 95 % interval; n = {grouped(crowd.numEpisodes)}
        {busy ? ' so far' : !crowd.complete && ', then stopped'}.
      </p>
      <Histogram title="Final scores" {...chart} />
      <CrowdFigures crowd={crowd} />
    </>
  );
}
