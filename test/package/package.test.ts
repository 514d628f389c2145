/** Compares package.json with the README and docs/installing.md. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { name, version, engines } = JSON.parse(read('package.json'));

it('the documentation has the Node versions that package.json requires', () => {
  const [, twenty, later] = /\^([\d.]+)\.0 \|\| >=([\d.]+)\.0/.exec(engines.node)!;
  for (const page of ['README.md', 'docs/installing.md']) {
    expect(read(page), page).toContain(`${twenty} or a later 20.x, or ${later} or later`);
  }
});

it('docs/installing.md has the file name of the packed package', () => {
  const tarballs = read('docs/installing.md').match(/[\w-]+-[\d.]+\.tgz/g);
  expect(new Set(tarballs)).toEqual(new Set([`${name}-${version}.tgz`]));
});
