/** Formats the shipped anchors, the two ends of each grader's bracket (docs/graders.md), as a module in Biome's format. */
import type { GraderAnchors, ScoreAnchors } from '../src/evaluation/audit/anchors-of.js';
import type { Interval } from '../src/shared/statistics.js';

/** Returns the whole module. Scores have at most five decimals. */
export function anchorsModule(graders: readonly GraderAnchors[]): string {
  return `/** The anchors of v1, v2 and v3 (see Anchor in anchors.ts). Made by \`npm run audits\`; do not edit. */
import type { GraderAnchors } from './anchors-of.js';

export const ANCHORS_DATA: readonly GraderAnchors[] = [
${graders.map(graderText).join('\n')}
];
`;
}

const graderText = ({ grader, graderWeights, version, worldDigest, anchors }: GraderAnchors): string =>
  `  {
    grader: '${grader}',
    graderWeights: {
${Object.entries(graderWeights)
  .map(([name, weight]) => `      ${name}: ${weight},`)
  .join('\n')}
    },
    version: '${version}',
    worldDigest: '${worldDigest}',
    anchors: {
${Object.entries(anchors)
  .map(([kind, scores]) => `      ${kind}: {\n${scoresText(scores)}\n      },`)
  .join('\n')}
    },
  },`;

const scoresText = ({ sequence, sequenceSeeds, oracle, oracleSeeds }: ScoreAnchors): string =>
  [
    `        sequence: ${intervalText(sequence)},`,
    `        sequenceSeeds: '${sequenceSeeds}',`,
    `        oracle: ${intervalText(oracle)},`,
    `        oracleSeeds: '${oracleSeeds}',`,
  ].join('\n');

const intervalText = ({ mean, low, high }: Interval): string =>
  `{ mean: ${rounded(mean)}, low: ${rounded(low)}, high: ${rounded(high)} }`;

const rounded = (value: number | null): string =>
  value === null ? 'null' : String(Number(value.toFixed(5)));
