/** Draws the preview picture of links to the demo page: the page's headline, a result, and the histograms of two policies. */
import { findPolicy } from '../../src/agents/policies/fixed-policies.js';
import { colourOfPlayer, LIGHT } from '../../src/figures/theme.js';
import { createVecEnv } from '../../src/index.js';

/**
 * In pixels: the picture, its margin, the y of the histograms' base, and the height of the highest bar. Chosen by hand, like
 * the other positions and sizes of this file.
 */
const [WIDTH, HEIGHT, MARGIN, BASE, HIGHEST] = [1200, 630, 64, 560, 250];
/** The number of people (episodes), the number of bars of a histogram, and the grader of the scores. Chosen by hand. */
const [PEOPLE, BARS, GRADER] = [20_000, 50, 'v2'];

const POLICIES = ['heuristic', 'open-loop'].map((name) => ({ name, colour: colourOfPlayer(name) }));

/** Returns an SVG of 1200 x 630 pixels. */
export function linkPicture(): string {
  const [first, second] = POLICIES.map(({ name }) => scoresOf(name));
  const beaten = second.filter((score, i) => score > first[i]).length / PEOPLE;
  const shares = [first, second].map(sharesOf);
  const highest = Math.max(...shares.flat());
  const bars = POLICIES.map(({ colour }, k) => barsOf(shares[k], highest, colour)).join('');
  const legend = POLICIES.map(({ name, colour }, k) => drawText(MARGIN + 200 * k, 300, name, 26, colour));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><rect width="${WIDTH}" height="${HEIGHT}" fill="${LIGHT.paper}"/>
${drawText(MARGIN, 96, 'Everyone responds differently.', 52, LIGHT.ink)}
${drawText(MARGIN, 164, 'Find out who this is in one week.', 52, LIGHT.ink)}
${drawText(MARGIN, 228, `open-loop beats heuristic for ${Math.round(100 * beaten)} % of people`, 30, LIGHT.muted)}
${legend.join('')}${bars}<rect x="${MARGIN}" y="${BASE}" width="${WIDTH - 2 * MARGIN}" height="2" fill="${LIGHT.rule}"/>
${drawText(MARGIN, 600, `final scores of ${PEOPLE.toLocaleString('en')} people, 0 to 1`, 24, LIGHT.muted)}\
${drawText(980, 600, 'rhythm-vec', 28, LIGHT.ink)}
</svg>
`;
}

/** Returns the final scores of a policy, f32 [PEOPLE]: a person is the sampled profile of a seed. */
function scoresOf(policy: string): Float32Array {
  const { choice, options } = findPolicy(policy);
  using env = createVecEnv({ numEnvs: PEOPLE, grader: GRADER });
  env.reset({ seed: 0 });
  return env.run(choice(PEOPLE, GRADER), options).finalScores.slice();
}

/** Returns the share of scores in each of BARS equal ranges of [0, 1]. */
function sharesOf(scores: Float32Array): number[] {
  const shares = Array<number>(BARS).fill(0);
  for (const score of scores) shares[Math.min(BARS - 1, Math.floor(score * BARS))] += 1 / PEOPLE;
  return shares;
}

/** Draws a histogram. @param highest the share of the highest bar. */
function barsOf(shares: readonly number[], highest: number, colour: string): string {
  const width = (WIDTH - 2 * MARGIN) / BARS;
  return shares
    .map((share, k) => {
      const height = Math.round((share / highest) * HIGHEST);
      return `<rect x="${MARGIN + k * width}" y="${BASE - height}" width="${width - 1.5}" height="${height}" fill="${colour}" fill-opacity="0.6"/>`;
    })
    .join('');
}

/** Draws a text. @param x, y its left end and its baseline, in pixels. */
const drawText = (x: number, y: number, text: string, size: number, colour: string): string =>
  `<text x="${x}" y="${y}" font-family="Inter" font-weight="600" font-size="${size}" fill="${colour}">${text}</text>`;
