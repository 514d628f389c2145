/** The results of a crowd: the finding, and below it charts, tables and digests. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { componentsInWords } from '../../../../src/figures/components.js';
import { type Bands, PERCENTILES } from '../../../../src/figures/episode-means.js';
import { histogramInWords } from '../../../../src/figures/histogram.js';
import { bandsInWords } from '../../../../src/figures/meter-bands.js';
import { decimal } from '../../../../src/figures/theme.js';
import {
  COMPONENT_NAMES,
  METER_NAMES,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
} from '../../../../src/world/fields.js';
import { RHYTHM } from '../../../../src/world/numbers.js';
import { ChartFigure, Legend, useStages } from '../../charts/figure.js';
import { HistogramPlot, histogramTable } from '../../charts/histogram.js';
import { type Panel, Panels } from '../../charts/panels.js';
import { ScoreParts } from '../../charts/score-parts.js';
import type { Crowd, CrowdPairing, CrowdPolicy } from '../../engine/requests.js';
import { PolicyName, Table, type TableProps } from '../../parts/content.js';
import { plain, timeOf, title } from '../../person/descriptions.js';
import { colourOf, grouped, halfWidth, percent, policyName } from '../../words.js';

/** A policy under its visitor's name. */
interface NamedPolicy extends CrowdPolicy {
  /** The name in code, which has a colour. */
  readonly code: string;
}

/** A crowd as it is shown. */
export interface NamedCrowd extends Crowd {
  readonly policies: readonly NamedPolicy[];
}

type Policies = NamedCrowd['policies'];

export const namedCrowd = (crowd: Crowd): NamedCrowd => ({
  ...crowd,
  policies: crowd.policies.map((policy) => ({ ...policy, code: policy.name, name: policyName(policy.name) })),
});

/** Formats a large number roughly: "2.9 million". */
function rounded(value: number): string {
  if (value < 1e6) return grouped(Math.round(value / 1000) * 1000);
  const [divisor, unit] = value < 1e9 ? [1e6, 'million'] : [1e9, 'billion'];
  return `${(value / divisor).toFixed(value < 10 * divisor ? 1 : 0)} ${unit}`;
}

/** Returns the policy that is better for more people, the other one, the share of these people, and the mean gain. */
function winnerOf(policies: Policies, { difference, better, same }: CrowdPairing) {
  const worse = 1 - better - same;
  const [first, second] = policies.map(({ name }) => name);
  return better > worse
    ? { winner: first, loser: second, share: better, gain: difference.mean }
    : { winner: second, loser: first, share: worse, gain: -difference.mean };
}

/** Returns the main result of a crowd, such as "Same week for everybody beats daily rules of thumb for 98 % of people". */
export function headlineOf({ policies, pairing }: NamedCrowd): string {
  const [first, second] = policies.map(({ name }) => name);
  if (pairing === null) return title(`${first} scores ${decimal(policies[0].score.mean, 3)} on average`);
  const { winner, loser, share } = winnerOf(policies, pairing);
  const { same } = pairing;
  return same >= share
    ? title(`${first} and ${second} score the same for ${roughly(same)} people`)
    : title(`${winner} beats ${loser} for ${roughly(share)} people`);
}

/** Formats a share as "98 % of". A share of 1 is "all"; one between 0.99 and 1 is "over 99 % of". */
const roughly = (share: number): string =>
  share === 1 ? 'all' : share > 0.99 ? 'over 99 % of' : `${Math.round(100 * share)} % of`;

/** Returns a percentile of a meter after each step. */
function percentile({ values }: Bands, which: (typeof PERCENTILES)[number], meter: number): number[] {
  const first = PERCENTILES.indexOf(which) * NUM_STEPS;
  return Array.from({ length: NUM_STEPS }, (_, step) => values[(first + step) * NUM_METERS + meter]);
}

/** Returns a table of the percentiles of the meters at the end of each day. */
function bandsTable(policies: Policies): TableProps {
  const lastSteps = Array.from({ length: RHYTHM.days }, (_, day) => (day + 1) * NUM_SLOTS - 1);
  return {
    caption:
      'Median of each meter at the end of each day; in brackets, the range of the middle 80 % of the people.',
    columns: ['Policy and meter', ...lastSteps.map((_, day) => `day ${day + 1}`)],
    rows: policies.flatMap(({ name, bands }) =>
      METER_NAMES.map((meter, k) => {
        const at = ([50, 10, 90] as const).map((which) => percentile(bands, which, k));
        const texts = lastSteps.map((step) => at.map((values) => decimal(values[step], 2)));
        return [`${name}, ${meter}`, ...texts.map(([median, low, high]) => `${median} (${low}–${high})`)];
      }),
    ),
  };
}

/** Returns the mean components and their parts of the score as a table. */
const componentsTable = (policies: Policies): TableProps => ({
  caption: 'Mean of each component, and what it adds to the score.',
  columns: ['Component', ...policies.flatMap(({ name }) => [name, `${name} adds`])],
  rows: COMPONENT_NAMES.map((component, k) => [
    plain(component),
    ...policies.flatMap(({ components, parts }) => [decimal(components[k], 4), decimal(parts[k], 4)]),
  ]),
});

function CrowdFigures({ crowd }: { readonly crowd: NamedCrowd }) {
  const { policies, steps, seconds } = crowd;
  return (
    <dl class="figures">
      {policies.map(({ code, score }) => (
        <div key={code}>
          <dt>
            <span class="chip" style={{ background: colourOf(code) }} />
            <PolicyName of={code} />
          </dt>
          <dd>
            {decimal(score.mean, 4)}
            <small>mean final score, {halfWidth(score, 4)}</small>
          </dd>
        </div>
      ))}
      <Advantage crowd={crowd} />
      <div>
        <dt>Speed</dt>
        <dd>
          {rounded(steps / seconds)}
          <small>
            steps per second: {rounded(steps)} steps in {seconds.toFixed(seconds < 10 ? 2 : 1)} s
          </small>
        </dd>
      </div>
    </dl>
  );
}

/** For how many people the policy that is better for more of them is better, and by how much on average. */
function Advantage({ crowd: { policies, pairing } }: { readonly crowd: NamedCrowd }) {
  if (pairing === null) return null;
  const { difference, same } = pairing;
  const { winner, share, gain } = winnerOf(policies, pairing);
  return (
    <div>
      <dt>Higher score</dt>
      <dd>
        {percent(share)}
        <small>
          of the people under {winner}, on average by {decimal(gain, 4)} {halfWidth(difference, 4)}
          {same > 0 && `; ${percent(same)} score the same`}
        </small>
      </dd>
    </div>
  );
}

interface CrowdProps {
  readonly crowd: NamedCrowd;
  /** Whether this crowd or the next one is still being computed. */
  readonly busy: boolean;
}

export function Finding({ crowd, busy }: CrowdProps) {
  const { policies, request } = crowd;
  const rows = seriesOf(policies).map((series, k) => {
    const { counts, score } = policies[k];
    return { ...series, counts, mean: score.mean };
  });
  return (
    <>
      <h2 id="finding">{headlineOf(crowd)}</h2>
      <p class="note">
        Under grader {request.grader}; ± is half of the 95 % interval; n = {grouped(crowd.numEpisodes)}
        {busy ? ' so far' : !crowd.complete && ', then stopped'}.
      </p>
      <ChartFigure title="Final scores" table={histogramTable(policies)}>
        <Legend rows={rows} />
        <HistogramPlot rows={rows} description={histogramInWords(rows)} />
      </ChartFigure>
      <CrowdFigures crowd={crowd} />
    </>
  );
}

/** Returns how the policies are drawn. The second is dashed or hollow, since two may have one colour, and bars overlap. */
const seriesOf = (policies: Policies) =>
  policies.map(({ name, code }, k) => ({ name, colour: colourOf(code), dashed: k > 0 }));

function MetersPicture({ crowd: { policies } }: { readonly crowd: NamedCrowd }) {
  const cursor = useSignal<number | null>(null);
  return (
    <section class="panel">
      <Panels
        title="The meters over the week"
        notes={[
          `Line: the median after each slot. Band: the middle 80 % of ${grouped(policies[0].bands.episodes)} people. Dashed: ${RHYTHM.constants.crashThreshold}, below which a meter counts as crashed. Shaded: the second half.`,
        ]}
        description={bandsInWords(policies)}
        panels={panelsOf(policies)}
        points={NUM_STEPS}
        cursor={cursor}
        nameOf={(step) => title(timeOf(step))}
        table={bandsTable(policies)}
      />
    </section>
  );
}

const PartsPicture = ({ crowd: { policies, request } }: { readonly crowd: NamedCrowd }) => (
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
    series: seriesOf(policies).map((series, k) => {
      const [low, values, high] = ([10, 50, 90] as const).map((which) =>
        percentile(policies[k].bands, which, meter),
      );
      return { ...series, values, band: [low, high] };
    }),
  }));

function Digests({ crowd }: { readonly crowd: NamedCrowd }) {
  const { policies, numEpisodes, request } = crowd;
  const { seed, grader, profiles } = request;
  return (
    <section class="panel" aria-labelledby="crowd-proof">
      <h2 id="crowd-proof">The same numbers everywhere</h2>
      <p class="note">
        Every backend computes the same bits. The digest is the SHA-256 of the {grouped(numEpisodes)} final
        scores under grader {grader}, written as little-endian 32-bit floats. They are the scores of people
        with the seeds from {seed} on and {profiles} profiles.
      </p>
      <Table
        caption="Means and digests"
        columns={['Policy', 'Mean final score', 'SHA-256 of the final scores']}
        rows={policies.map(({ code, score, digest }) => [code, score.mean.toFixed(12), digest])}
      />
    </section>
  );
}

const SECTIONS = [MetersPicture, PartsPicture, Digests];

/** @param ageClass the CSS class 'old' while the results are those of earlier settings; else ''. */
export function CrowdResults({ crowd, busy, ageClass }: CrowdProps & { readonly ageClass: string }) {
  const stages = useStages(crowd, SECTIONS.length);
  const isBehind = stages.some((shown) => shown !== crowd);
  return (
    <div class={`results ${ageClass}`} aria-busy={busy || isBehind}>
      {SECTIONS.map((Section, k) => (
        <Stage key={k} Section={Section} crowd={stages[k]} />
      ))}
    </div>
  );
}

interface StageProps {
  readonly Section: (typeof SECTIONS)[number];
  readonly crowd: NamedCrowd | null;
}

/** One section of the results. It is drawn again only if its crowd changes. */
const Stage = ({ Section, crowd }: StageProps) =>
  useMemo(() => crowd && <Section crowd={crowd} />, [Section, crowd]);
