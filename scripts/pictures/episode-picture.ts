/**
 * Draws two animated episodes side by side as SVG: two policies with the same profile, noise and events. CSS animates the
 * picture, so it also moves in an `<img>`. Without animation it shows the whole week.
 */
import { ACTION_STYLES } from '../../src/figures/action-sequences.js';
import { DARK, FONT, kindOf, LIGHT, POLICY_COLOURS, textWidth } from '../../src/figures/theme.js';
import { BELIEF_NAMES, METER_NAMES, NUM_SLOTS, NUM_STEPS } from '../../src/world/fields.js';
import type { PlayedEpisode } from './played-episode.js';

/** Sizes in pixels: the picture, its padding, and the gap between its two columns. */
const [WIDTH, HEIGHT, PADDING, GAP] = [880, 436, 24, 40];
/** The width of a policy's column, and of a step in it. */
const COLUMN = (WIDTH - 2 * PADDING - GAP) / 2;
const CELL = COLUMN / NUM_STEPS;
/** The seconds of one cycle of the animation, and the percentage of it in which the week is played. The rest shows its end. */
const [CYCLE, PLAYED] = [18, 80];

/** Colours of the five meters, visible in both themes. */
const METER_COLOURS = ['#d1690e', '#2f81c7', '#16917f', '#a8679f', '#7d8794'];

/** The y of each part: the baseline of a text, the top of any other part. */
const TOP = { title: 40, name: 84, squares: 98, meters: 138, beliefs: 318 };
const METERS_HEIGHT = 130;
const BELIEF_ROW = 32;
/** The left end of the tracks of a belief, and their length. */
const [TRACK, TRACK_LENGTH] = [78, COLUMN - 78];

const round = (value: number): number => Math.round(100 * value) / 100;
const text = (x: number, y: number, words: string, style = ''): string =>
  `<text x="${round(x)}" y="${round(y)}"${style}>${words}</text>`;

/** Returns the SVG. @param episodes two episodes of the same seed. */
export function episodePicture(episodes: readonly PlayedEpisode[], seed: number, grader: string): string {
  const [first, second] = episodes;
  const words = `The same person (seed ${seed}), the same luck, two policies. ${episodes.map(inWords).join(' ')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">
<title>One week of one person, played by ${first.policy} and by ${second.policy}</title>
<desc>${words}</desc>
<style>${STYLE}${episodes.map(beliefRules).join('')}</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}" rx="10"/>
${text(PADDING, TOP.title, 'Everyone responds differently. Find out who this is in one week.', ' class="head"')}
${episodes.map((episode, k) => column(episode, k, grader)).join('\n')}
</svg>
`;
}

/** Describes the result of an episode, for the picture's `<desc>`. */
const inWords = ({ policy, finalScore, beliefMae, beliefs }: PlayedEpisode): string =>
  `${policy} scores ${finalScore.toFixed(3)}${beliefs[0] === null ? ' and states no belief' : `; its belief ends ${beliefMae.toFixed(3)} from the truth`}.`;

/** The style sheet. A curtain covers the steps that are not played yet, and becomes narrower from its left end. */
const STYLE =
  `text{font:13px ${FONT};fill:${LIGHT.ink}}.head{font-size:17px;font-weight:600}.name{font-weight:600;font-size:15px}.small{font-size:11px;fill:${LIGHT.muted}}` +
  `.paper,.curtain{fill:${LIGHT.paper}}.shade{fill:${LIGHT.shade}}.rule{stroke:${LIGHT.rule}}.line{fill:none;stroke-width:2;stroke-linejoin:round}.truth{fill:${LIGHT.ink}}.belief{fill:none;stroke-width:4}` +
  '.curtain{transform:scaleX(0);transform-box:fill-box;transform-origin:right}' +
  `.curtain,.belief,.end{animation:${CYCLE}s linear infinite}.curtain{animation-name:c}.end{animation-name:e}` +
  `@keyframes c{0%{transform:scaleX(1)}${PLAYED}%,100%{transform:scaleX(0)}}@keyframes e{0%,${PLAYED}%{opacity:0}${PLAYED + 1}%,100%{opacity:1}}` +
  '@media(prefers-reduced-motion:reduce){.curtain,.belief,.end{animation:none}}' +
  `@media(prefers-color-scheme:dark){text,.truth{fill:${DARK.ink}}.small{fill:${DARK.muted}}.paper,.curtain{fill:${DARK.paper}}.shade{fill:${DARK.shade}}.rule{stroke:${DARK.rule}}}`;

/**
 * Returns the style rules that colour the marks of a policy's belief, and move them from 0.5 to the last belief. Without
 * animation the marks are at the last belief.
 */
function beliefRules({ policy, beliefs }: PlayedEpisode): string {
  if (beliefs[0] === null) return '';
  const { light, dark } = POLICY_COLOURS[kindOf(policy)!];
  const colours = `.${policy}{stroke:${light}}@media(prefers-color-scheme:dark){.${policy}{stroke:${dark}}}`;
  const moves = BELIEF_NAMES.map((name, k) => {
    const last = beliefs[NUM_STEPS - 1]![k];
    const keyframes = beliefs.map((belief, step) => {
      const at = round(((step + 1) * PLAYED) / NUM_STEPS);
      return `${at}%{transform:translateX(${round((belief![k] - last) * TRACK_LENGTH)}px)}`;
    });
    const start = `0%{transform:translateX(${round((0.5 - last) * TRACK_LENGTH)}px)}`;
    return `.${policy}-${name}{animation-name:${policy}-${name}}@keyframes ${policy}-${name}{${start}${keyframes.join('')}100%{transform:none}}`;
  });
  return `${colours}${moves.join('')}`;
}

/** Draws the column of a policy. @param k 0 for the left column, 1 for the right one. */
function column(episode: PlayedEpisode, k: number, grader: string): string {
  const { policy, finalScore } = episode;
  return `<g transform="translate(${PADDING + k * (COLUMN + GAP)} 0)">
${text(0, TOP.name, policy, ' class="name"')}
${text(COLUMN, TOP.name, `score ${finalScore.toFixed(2)} under ${grader}`, ' class="end" text-anchor="end"')}
${squares(episode)}
${meters(episode)}
<rect class="curtain" x="-1" y="${TOP.squares - 1}" width="${COLUMN + 2}" height="${TOP.meters + METERS_HEIGHT - TOP.squares + 2}"/>
${beliefTracks(episode)}
</g>`;
}

/** Draws a square for each action, in the colour of the action. */
const squares = ({ actions }: PlayedEpisode): string =>
  actions
    .map(
      (action, step) =>
        `<rect x="${round(step * CELL)}" y="${TOP.squares}" width="${round(CELL - 1.5)}" height="26" rx="2" fill="${ACTION_STYLES[action].colour}"/>`,
    )
    .join('');

/** Draws the lines of the meters over the week, with the days and the legend. */
function meters({ meters: rows }: PlayedEpisode): string {
  const point = (step: number, value: number): string =>
    `${round(step * CELL)} ${round(TOP.meters + (1 - value) * METERS_HEIGHT)}`;
  const days = Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) =>
    text((day + 0.5) * NUM_SLOTS * CELL, TOP.meters + METERS_HEIGHT + 15, `day ${day + 1}`, MIDDLE),
  );
  const lines = METER_NAMES.map((_, k) => {
    const path = rows.map((row, step) => point(step, row[k])).join('L');
    return `<path class="line" stroke="${METER_COLOURS[k]}" d="M${path}"/>`;
  });
  return `<rect class="shade" y="${TOP.meters}" width="${COLUMN}" height="${METERS_HEIGHT}"/>${lines.join('')}${days.join('')}${legend()}`;
}

const MIDDLE = ' class="small" text-anchor="middle"';

/** Draws a square in the colour of each meter, and the name of the meter beside it. */
function legend(): string {
  let x = 0;
  return METER_NAMES.map((name, k) => {
    const [left, y] = [x, TOP.meters + METERS_HEIGHT + 33];
    x += textWidth(name, 11) + 24;
    return `<rect x="${round(left)}" y="${y - 9}" width="9" height="9" rx="2" fill="${METER_COLOURS[k]}"/>${text(left + 13, y, name, ' class="small"')}`;
  }).join('');
}

/** Draws a track for each number of the belief: a dot at the truth, and a ring at the last belief, if any. */
function beliefTracks({ policy, beliefs, target }: PlayedEpisode): string {
  const rows = BELIEF_NAMES.map((name, k) => {
    const y = TOP.beliefs + 24 + k * BELIEF_ROW;
    const last = beliefs[NUM_STEPS - 1];
    const truth = `<circle class="truth" cx="${round(TRACK + target[k] * TRACK_LENGTH)}" cy="${y}" r="6"/>`;
    const mark =
      last === null
        ? ''
        : `<circle class="belief ${policy} ${policy}-${name}" cx="${round(TRACK + last[k] * TRACK_LENGTH)}" cy="${y}" r="8"/>`;
    return `${text(0, y + 4, name)}<line class="rule" x1="${TRACK}" x2="${COLUMN}" y1="${y}" y2="${y}" stroke-width="2"/>${truth}${mark}`;
  });
  const states = beliefs[0] === null ? 'It states no belief.' : 'Ring: what it believes.';
  const y = TOP.beliefs + 4;
  return `${text(0, y, `Dot: who it is. ${states}`, ' class="small"')}${rows.join('')}`;
}
