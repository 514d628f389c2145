/** From a drawing to SVG: a document of its own, the same bytes for the same drawing. */
import type { Drawing } from './drawing.js';
import { textWidth } from './text-width.js';
import { CONFIG, DARK, FONT_SIZE, LIGHT } from './theme.js';
import { loadVega } from './vega.js';

export interface SvgOptions {
  /** 'auto' (default): light, but dark on a screen whose owner prefers that. Print is light. */
  theme?: 'auto' | 'light' | 'dark';
}

/** So that what one picture says of colours holds for pictures alone, where it stands in a page. */
const CLASS = 'rhythm-picture';

/** A picture is one image, told in one description: its parts have neither roles nor names. */
const PART_ROLES =
  /(<g class="[^"]*") role="graphics-[a-z]+" aria-roledescription="[^"]*"(?: aria-label="[^"]*")?/g;

type Tone = keyof typeof LIGHT;
const TONES = Object.keys(LIGHT) as Tone[];

/**
 * A drawing as SVG: self-contained, well-formed XML with a title and a description, for a file or to stand in a page.
 * @throws LibraryError `library_missing`.
 */
export async function svgOf(drawing: Drawing, { theme = 'auto' }: SvgOptions = {}): Promise<string> {
  const head = `<title>${escaped(drawing.title)}</title><desc>${escaped(drawing.description)}</desc>`;
  const style = theme === 'auto' ? `<style>${darkOnDarkScreens()}</style>` : '';
  const svg = (await draw(drawing))
    .replace('<svg ', '<svg role="img" ')
    .replace('class="marks"', `class="${CLASS}"`)
    .replace('>', () => `>${head}${style}`)
    .replace(PART_ROLES, '$1');
  return legal(theme === 'dark' ? darkened(svg) : svg);
}

async function draw({ spec }: Drawing): Promise<string> {
  const { vega, compile } = await loadVega();
  const compiled = compile(spec as Parameters<typeof compile>[0], { config: CONFIG });
  const view = new vega.View(vega.parse(compiled.spec), { renderer: 'none' });
  // Vega measures by a canvas if it finds one, so what is installed beside it would change the layout.
  const { textMetrics } = vega as unknown as Metrics;
  const { width } = textMetrics;
  textMetrics.width = ({ fontSize = FONT_SIZE }, text) => textWidth(String(text), fontSize);
  try {
    view.run();
  } finally {
    textMetrics.width = width;
  }
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

/** Exported by Vega for hosts without a canvas; its types leave it out. */
interface Metrics {
  readonly textMetrics: { width: (item: { fontSize?: number }, text: unknown) => number };
}

/** Colours stand in attributes, for programs that know no CSS; a rule that matches an attribute outranks it. */
function darkOnDarkScreens(): string {
  const rule = (property: string) => (tone: Tone) =>
    `.${CLASS} [${property}="${LIGHT[tone]}"]{${property}:${DARK[tone]}}`;
  const rules = [...TONES.map(rule('fill')), ...TONES.map(rule('stroke'))];
  return `@media screen and (prefers-color-scheme:dark){${rules.join('')}}`;
}

const darkened = (svg: string): string =>
  TONES.reduce((text, tone) => text.replaceAll(`"${LIGHT[tone]}"`, `"${DARK[tone]}"`), svg);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** XML allows neither control characters nor halves of pairs, whatever a policy is called. */
const legal = (xml: string): string =>
  xml.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '?');
