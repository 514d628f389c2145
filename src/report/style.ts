/** The style sheet of the page: light, dark if the reader prefers it, and print. */
import { DARK, FONT, LIGHT } from '../figures/theme.js';

/** Returns the colours of a theme as CSS variables. */
const variablesOf = (theme: Readonly<Record<keyof typeof LIGHT, string>>): string =>
  Object.entries(theme)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(' ');

/** Colours of links and of warnings. They contrast with text and background in both themes. */
const LINKS = { light: '#0b5cad', dark: '#79b8ff' };
const WARNINGS = { light: '#9a3412', dark: '#ffab70' };

export const STYLE = `
:root { ${variablesOf(LIGHT)} --link: ${LINKS.light}; --warning: ${WARNINGS.light}; color-scheme: light; }
@media screen and (prefers-color-scheme: dark) {
  :root { ${variablesOf(DARK)} --link: ${LINKS.dark}; --warning: ${WARNINGS.dark}; color-scheme: dark; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 ${FONT}; overflow-wrap: anywhere; }
header, nav, main, footer { max-width: 72rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2.5rem); }
header { padding-block: 2rem 0; }
footer { padding-block: 1rem 3rem; color: var(--muted); font-size: 0.875rem; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { margin: 0 0 1rem; font-size: 1.875rem; }
h2 { margin: 3rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--rule); font-size: 1.375rem; }
h3 { margin: 2rem 0 0.5rem; font-size: 1.0625rem; }
p, li { max-width: 46rem; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 1.25rem 0 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding-block: 0.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.25rem; margin: 0; font-size: 0.875rem; }
dt { grid-column: 1; color: var(--muted); }
dd { grid-column: 2; margin: 0; }
code { padding: 0.1em 0.3em; border-radius: 3px; background: var(--shade); font-size: 0.875em; }
.warning { padding: 0.75rem 1rem; border-left: 4px solid var(--warning); background: var(--shade); }
.warning strong { color: var(--warning); }
figure { margin: 1.25rem 0; }
figcaption { margin-top: 0.3rem; color: var(--muted); font-size: 0.8125rem; }
.frame { overflow-x: auto; }
figure .frame { width: fit-content; max-width: 100%; border: 1px solid var(--rule); border-radius: 6px; }
figure svg { display: block; height: auto; }
summary { width: fit-content; color: var(--link); cursor: pointer; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
div.frame:has(> table) { margin: 1.25rem 0; }
caption { padding-bottom: 0.4rem; color: var(--muted); font-size: 0.8125rem; text-align: left; }
th, td { padding: 0.3rem 0.75rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; overflow-wrap: normal; }
th:first-child { padding-left: 0; }
thead th { font-weight: 600; vertical-align: bottom; }
tbody th { min-width: 9rem; max-width: 22rem; font-weight: 400; overflow-wrap: anywhere; }
td { max-width: 20rem; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
@media (min-width: 64rem) {
  figure svg { max-width: 100%; }
}
@media (max-width: 40rem) {
  dl { display: block; }
  dt { margin-top: 0.5rem; }
}
@media print {
  @page { margin: 14mm; }
  body { font-size: 10pt; }
  header, nav, main, footer { max-width: none; padding-inline: 0; }
  nav, details { display: none; }
  h2 { break-before: auto; }
  h2, h3, caption { break-after: avoid; }
  figure, tr, .warning { break-inside: avoid; }
  thead { display: table-header-group; }
  .frame { overflow: visible; }
  figure .frame { border: 0; }
  figure svg { max-width: 100%; max-height: 240mm; }
  table { font-size: 8pt; width: 100%; }
  th, td { padding: 0.2rem 0.35rem; }
  tbody th { min-width: 0; }
}
`;
