/** Turns the picture of two episodes into the preview picture of links to the page: 1200 x 630 pixels, the end of the week. */
import { FONT, kindOf, LIGHT, POLICY_COLOURS } from '../../src/figures/theme.js';
import { BELIEF_NAMES } from '../../src/world/fields.js';

/** In pixels of the preview, and the width of the picture of the episodes. */
const [WIDTH, HEIGHT, DRAWN] = [1200, 630, 880];
/** The part of the height that lies above the drawn picture, in its own pixels. Chosen by hand. */
const ABOVE = 16;

/** The styles of the picture's classes as attributes, because the library that draws PNG files reads no style sheets. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  head: 'font-size="25" font-weight="600"',
  name: 'font-size="15" font-weight="600"',
  small: `font-size="11" fill="${LIGHT.muted}"`,
  end: '',
  shade: `fill="${LIGHT.shade}"`,
  rule: `stroke="${LIGHT.rule}"`,
  line: 'fill="none" stroke-width="2" stroke-linejoin="round"',
  truth: `fill="${LIGHT.ink}"`,
  belief: 'fill="none" stroke-width="4"',
};

/** Returns the preview as an SVG without style sheet. @param episode the SVG of `episodePicture`. */
export function linkPicture(episode: string): string {
  const drawn = episode
    .slice(episode.indexOf('</style>') + '</style>'.length, episode.indexOf('</svg>'))
    // The curtain, which is open at the end of the week, and the ground, which the preview draws in its own size.
    .replace(/<rect class="(curtain|paper)"[^>]*>/g, '')
    .replace(/ class="([^"]*)"/g, (_, names: string) => ` ${names.split(' ').map(attributesOf).join(' ')}`);
  const height = (HEIGHT * DRAWN) / WIDTH;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 ${-ABOVE} ${DRAWN} ${height}">
<rect y="${-ABOVE}" width="${DRAWN}" height="${height}" fill="${LIGHT.paper}"/>
<g font-family="${FONT.split(',')[0]}" font-size="13" fill="${LIGHT.ink}">${drawn}</g>
</svg>
`;
}

/** Returns the attributes of a class. That of a policy has the policy's colour; that of one number of its belief only moves. */
function attributesOf(name: string): string {
  if (BELIEF_NAMES.some((number) => name.endsWith(`-${number}`))) return '';
  return ATTRIBUTES[name] ?? `stroke="${POLICY_COLOURS[kindOf(name)!].light}"`;
}
