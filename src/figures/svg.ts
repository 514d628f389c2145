/** Renders a figure as a self-contained SVG document. The same figure gives the same bytes. */
import type { Drawing } from './figure.js';
import { textWidth } from './text-width.js';
import { CONFIG, DARK, FONT_SIZE, LIGHT } from './theme.js';
import { loadVega } from './vega.js';

export interface SvgOptions {
  /** 'auto' (default): light, or dark on a screen with that preference. Print is light. */
  theme?: 'auto' | 'light' | 'dark';
}

/** The class of figures. It limits their style rules to figures if a page contains them. */
const CLASS = 'rhythm-picture';

/** Matches the roles and labels of parts. They are removed: a figure is one image with one description. */
const PART_ROLES =
  /(<g class="[^"]*") role="graphics-[a-z]+" aria-roledescription="[^"]*"(?: aria-label="[^"]*")?/g;

type Tone = keyof typeof LIGHT;
const TONES = Object.keys(LIGHT) as Tone[];

/**
 * Renders a drawing as self-contained, well-formed SVG with a title and a description, for a file or a page.
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
  // Vega marks data rows as its own. Marks on rows that figures share would hide later rows, so it gets copies.
  const compiled = compile(structuredClone(spec) as Parameters<typeof compile>[0], { config: CONFIG });
  const view = new vega.View(vega.parse(compiled.spec), { renderer: 'none' });
  // Otherwise Vega measures text with an installed canvas package, and the layout depends on the machine.
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

/** Exported by Vega for hosts without a canvas, but missing from its types. */
interface Metrics {
  readonly textMetrics: { width: (item: { fontSize?: number }, text: unknown) => number };
}

/** Returns style rules for dark screens. Colours are attributes, for programs without CSS; the rules override them. */
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

/** Replaces control characters and lone surrogates, which XML does not allow. */
const legal = (xml: string): string =>
  xml.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '?');
