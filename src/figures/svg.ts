/** Renders a figure as a self-contained SVG document. The same figure gives the same bytes. */

import { load } from '../shared/optional-packages.js';
import type { Drawing } from './figure.js';
import { CONFIG, DARK, FONT_SIZE, LIGHT, POLICY_COLOURS, textWidth } from './theme.js';

/** Options of `svgOf`. */
export interface SvgOptions {
  /** 'auto' (default): dark on screens that prefer dark colours; light on other screens and in print. */
  theme?: 'auto' | 'light' | 'dark';
}

/** The class of the root element. Style rules apply only within this class, so a page can contain the figure. */
const CLASS = 'rhythm-picture';

/** Matches ARIA roles and labels of parts, which `svgOf` removes: a figure is one image with one description. */
const PART_ROLES =
  /(<g class="[^"]*") role="graphics-[a-z]+" aria-roledescription="[^"]*"(?: aria-label="[^"]*")?/g;

/** A colour that differs between the light and the dark theme. */
type Shades = readonly [light: string, dark: string];
const THEME_SHADES = Object.entries(LIGHT).map(
  ([name, light]): Shades => [light, DARK[name as keyof typeof LIGHT]],
);
const POLICY_SHADES = Object.values(POLICY_COLOURS).map(({ light, dark }): Shades => [light, dark]);

/**
 * Renders a drawing as self-contained, well-formed SVG with a title and a description, for a file or a page.
 * @throws LibraryError `library_missing`.
 */
export async function svgOf(drawing: Drawing, { theme = 'auto' }: SvgOptions = {}): Promise<string> {
  const head = `<title>${escapeXml(drawing.title)}</title><desc>${escapeXml(drawing.description)}</desc>`;
  const drawn = await draw(drawing);
  const style = theme === 'auto' ? `<style>${darkScreenRules(drawn)}</style>` : '';
  const svg = drawn
    .replace('<svg ', '<svg role="img" ')
    .replace('class="marks"', `class="${CLASS}"`)
    .replace('>', () => `>${head}${style}`)
    .replace(PART_ROLES, '$1');
  return replaceIllegal(theme === 'dark' ? withDarkColours(svg) : svg);
}

/** Renders a specification in the light theme, as Vega writes it. */
async function draw({ spec }: Drawing): Promise<string> {
  const { vega, compile } = await loadVega();
  // Vega writes ids into data rows, and omits rows that have ids of another figure. So it gets a copy.
  const compiled = compile(structuredClone(spec) as Parameters<typeof compile>[0], { config: CONFIG });
  const view = new vega.View(vega.parse(compiled.spec), { renderer: 'none' });
  // By default, Vega measures text with a canvas package if one is installed. Then the layout would depend on the machine.
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

/** An export of Vega that its types lack. */
interface Metrics {
  readonly textMetrics: { width: (item: { fontSize?: number }, text: unknown) => number };
}

/** Returns style rules for dark screens. Colours are attributes, for programs without CSS; the rules override them. */
function darkScreenRules(svg: string): string {
  const rule =
    (property: string) =>
    ([light, dark]: Shades): string =>
      `.${CLASS} [${property}="${light}"]{${property}:${dark}}`;
  const policies = POLICY_SHADES.filter(([light]) => svg.includes(`"${light}"`));
  const rules = ['fill', 'stroke'].flatMap((property) => [...THEME_SHADES, ...policies].map(rule(property)));
  return `@media screen and (prefers-color-scheme:dark){${rules.join('')}}`;
}

const withDarkColours = (svg: string): string =>
  [...THEME_SHADES, ...POLICY_SHADES].reduce(
    (text, [light, dark]) => text.replaceAll(`"${light}"`, `"${dark}"`),
    svg,
  );

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Replaces characters that XML does not allow. */
const replaceIllegal = (xml: string): string =>
  xml.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '?');

interface Vega {
  readonly vega: typeof import('vega');
  readonly compile: typeof import('vega-lite').compile;
}

/** @internal Loads both packages. @throws LibraryError `library_missing`. */
export const loadVega = (): Promise<Vega> =>
  load('SVG figures', ['vega@6', 'vega-lite@6.4'], async () => {
    const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
    return { vega, compile: vegaLite.compile };
  });
