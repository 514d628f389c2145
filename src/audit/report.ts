/** An audit as a page of Markdown. */
import { decimals, intervalInText } from '../evaluate/figures.js';
import type { NamedDrawing } from '../pictures/drawing.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import type { Audit } from './audit.js';
import type { AuditRow } from './prices.js';

/** @param drawings pictures that lie beside the page as SVG, by their names. */
export function reportOf(audit: Audit, drawings: readonly NamedDrawing[]): string {
  const picture = (name: string): string => {
    const found = drawings.find((drawing) => drawing.name === name);
    return found === undefined ? '' : `![${escaped(found.drawing.title)}](${name}.svg)`;
  };
  return [
    `# What grader ${escaped(audit.grader)} pays for`,
    escaped(audit.verdict),
    picture('prices'),
    '## Who earns what',
    scoresOf(audit),
    "`+constant` believes 0.5 each, `+truth` what is true of the person; the oracle plays a tape of each person's own, " +
      'found in weeks of other luck. `honest-tape` is the best whose first half of the week is no worse than the ' +
      "heuristic's. `push:` raises one component alone.",
    '## Which component brings it',
    `Over the heuristic: weight times difference, with a 95 % interval. ${weightsOf(audit)}`,
    gainsOf(audit),
    picture('components'),
    '## What they do',
    picture('tapes'),
    picture('rewards'),
    picture('meters'),
    '## How it was made',
    provenanceOf(audit),
    '',
  ]
    .filter((part, i, parts) => part !== '' || i === parts.length - 1)
    .join('\n\n');
}

/** Who earns what, a row a policy. */
export function scoresOf({ rows }: Audit): string {
  const heads = [
    'policy',
    'episodes',
    'final score',
    'over the heuristic',
    'belief MAE',
    'early mean',
    'late mean',
  ];
  return table(
    heads,
    rows.map((row) => [
      row.policy,
      String(row.episodes),
      intervalInText(row.finalScore),
      intervalInText(row.price),
      decimals(row.beliefMae),
      decimals(row.earlyMean),
      decimals(row.lateMean),
    ]),
  );
}

/** Which component brings it: weight times difference to the heuristic. */
export function gainsOf({ rows, graderWeights }: Audit): string {
  const names = COMPONENT_NAMES.filter((name) => graderWeights[name] !== 0);
  const gain = ({ components }: AuditRow) => names.map((name) => intervalInText(components[name].gain));
  return table(
    ['policy', ...names],
    rows.map((row) => [row.policy, ...gain(row)]),
  );
}

const weightsOf = ({ graderWeights }: Audit): string => {
  const pairs = Object.entries(graderWeights).filter(([, weight]) => weight !== 0);
  return `Weights: ${pairs.map(([name, weight]) => `${name} ${weight}`).join(', ')}.`;
};

function provenanceOf(audit: Audit): string {
  const { seeds, machine } = audit;
  return [
    `- Tapes found in ${seeds.training} (${audit.evaluations} scored for everybody's), those of one person in the luck of ` +
      `${seeds.luck}; search seed ${audit.seed}.`,
    `- Scored on fresh seeds ${seeds.fresh}; persons ${seeds.persons}. Differences are paired.`,
    `- rhythm-vec ${audit.version}, world ${audit.worldDigest}, backend ${audit.backend}, kernel ${audit.kernel}, ` +
      `${audit.threads} threads, ${machine.cpu}, Node ${machine.node}: ${audit.seconds.toFixed(1)} s.`,
    ...audit.tapes.map(({ policy, actions }) => `- ${policy}: ${actions.join(', ')}.`),
  ].join('\n');
}

/** A grader may be called anything: it is not to become markup. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>|#&]/g, '\\$&');

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map((_, k) => (k === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
