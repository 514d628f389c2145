/** A report as one page of HTML that asks nobody for anything: no script, no style, font or picture from elsewhere. */
import type { ReportData } from './gathered.js';
import { type Html, html, raw } from './html.js';
import { isFigure, type Section } from './section.js';
import { actionsSection } from './sections/actions.js';
import { beliefErrorSection, calibrationSection } from './sections/beliefs.js';
import { costSection } from './sections/cost.js';
import { missingSection } from './sections/missing.js';
import { pricesSection } from './sections/prices.js';
import { scoresSection } from './sections/scores.js';
import { type Origin, originOf, sourcesSection, warningsOf } from './sections/sources.js';
import { weeksSection } from './sections/weeks.js';
import { STYLE } from './style.js';

/** In the order of the page. */
const SECTIONS: readonly ((data: ReportData) => Section | null)[] = [
  scoresSection,
  beliefErrorSection,
  calibrationSection,
  actionsSection,
  pricesSection,
  costSection,
  weeksSection,
  missingSection,
  sourcesSection,
];

/** Those that there is something for. */
export const sectionsOf = (data: ReportData): Section[] => SECTIONS.flatMap((section) => section(data) ?? []);

/** Nothing may run and nothing be fetched; pictures bring their styles along. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The meta element by which a report is known again, and which names its files. */
export const FILES_META = 'rhythm-vec-report-files';

/**
 * The page, the same bytes for the same data.
 * @param svgs the SVG of each figure, by name. @param files what lies beside the page, by name. @param version of the
 *   package that makes it.
 */
export function pageOf(
  data: ReportData,
  sections: readonly Section[],
  svgs: ReadonlyMap<string, string>,
  { files, version }: { readonly files: readonly string[]; readonly version: string },
): string {
  const origin = originOf(data);
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="content-security-policy" content="${POLICY}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta name="generator" content="rhythm-vec ${version}" />
<meta name="${FILES_META}" content="${files.join(' ')}" />
<title>Rhythm: results</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<h1>Rhythm: results</h1>
${warningsOf(origin)}${headerOf(origin)}</header>
<nav aria-label="Contents"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul></nav>
<main>
${sections.map((section) => sectionOf(section, svgs))}</main>
<footer>Made by rhythm-vec ${version} of the files above. Numbers after ± are half of a 95 % interval.</footer>
</body>
</html>
`;
  return String(page);
}

function headerOf({ versions, worlds, engines, machines, seeds }: Origin): Html {
  const said: [name: string, values: readonly string[]][] = [
    ['rhythm-vec', versions],
    ['world', worlds],
    ['seeds', seeds.length === 0 ? [] : [seeds.join('; ')]],
    ['backend', engines],
    ['machine', machines],
  ];
  const rows = said.map(([name, values]) => {
    const lines = values.length === 0 ? ['not said by these files'] : values;
    return html`<dt>${name}</dt>${lines.map((value) => html`<dd><bdi>${value}</bdi></dd>`)}\n`;
  });
  return html`<dl>${rows}</dl>\n`;
}

function sectionOf({ id, title, parts }: Section, svgs: ReadonlyMap<string, string>): Html {
  const body = parts.map((part) => (isFigure(part) ? figureOf(part.name, part.drawing.title, svgs) : part));
  return html`<section>
<h2 id="${id}">${title}</h2>
${body}</section>
`;
}

const figureOf = (name: string, title: string, svgs: ReadonlyMap<string, string>): Html =>
  html`<figure><div class="frame" role="group" aria-label="${title}" tabindex="0">${raw(svgs.get(name)!)}</div>
<figcaption>Also as ${name}.svg and ${name}.png.</figcaption></figure>
`;
