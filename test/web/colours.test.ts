/** Tests that each colour of the page has one meaning, in light and dark, and that the page and figures share a theme. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { POLICY_COLOURS, POLICY_KINDS } from '../../src/figures/policy-colours.js';
import { CATEGORY_SHADES, COMPONENT_COLOURS, DARK, LIGHT, SERIES } from '../../src/figures/theme.js';
import { colourOf, isRepeated } from '../../web/src/charts/policy-colours.js';

const css = (path: string): string => readFileSync(new URL(`../../web/src/${path}`, import.meta.url), 'utf8');
const tokens = css('styles/tokens.css');
const marks = css('parts/marks.css');

/** Reads the colour variables of the first block of `selector`. */
function variables(text: string, selector: string): ReadonlyMap<string, string> {
  const [block] = text.slice(text.indexOf(`${selector} {`)).split('}');
  return new Map(
    Array.from(block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name, colour]) => [name, colour]),
  );
}

const THEMES = {
  light: { ...LIGHT, page: variables(tokens, ':root') },
  dark: { ...DARK, page: variables(tokens, ':root[data-scheme="dark"]') },
};

it.each(['light', 'dark'] as const)('no two meanings share a colour (%s)', (name) => {
  const { page } = THEMES[name];
  const meanings = new Map<string, string>([
    ...POLICY_KINDS.map((kind) => [`policy ${kind}`, POLICY_COLOURS[kind][name]] as const),
    ...CATEGORY_SHADES.flat().map((colour, k) => [`action ${k}`, colour] as const),
    ...COMPONENT_COLOURS.map((colour, k) => [`component ${k}`, colour] as const),
    ...Array.from(variables(marks, ':root')),
    ...['ink', 'muted', 'accent', 'wrong', 'warn-rule'].map((key) => [key, page.get(key)!] as const),
  ]);
  expect([...meanings.values()]).not.toContain(undefined);
  expect(new Set(meanings.values()).size).toBe(meanings.size);
});

it('the theme of the page has the colours of the theme of figures', () => {
  for (const { page, ...theme } of Object.values(THEMES)) {
    for (const [name, colour] of Object.entries(theme)) expect(page.get(name), name).toBe(colour);
  }
  expect(variables(marks, ':root').get('series')).toBe(SERIES);
});

it('a policy has the colour of its kind, and a second policy of the kind is dashed', () => {
  expect(colourOf('heuristic+constant')).toBe('var(--policy-heuristic)');
  expect(colourOf('a student trained here')).toBe('var(--policy-student)');
  const names = ['heuristic', 'open-loop', 'heuristic+constant'];
  expect(names.map((_, k) => isRepeated(names, k))).toEqual([false, false, true]);
});
