/**
 * Audits the published graders and writes what docs/graders.md shows: data, pictures and the page's tables. With --check
 * it fails when another audit comes out, or the page's tables are not those of the data; pictures it leaves alone, which
 * another release of what draws them may draw otherwise.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Audit, audit } from '../src/audit/audit.js';
import { drawingsOf } from '../src/audit/drawings.js';
import { reproducibleJson } from '../src/audit/json.js';
import { svgOf } from '../src/pictures/svg.js';
import { GRADER_NAMES } from '../src/world/fields.js';
import { withTables } from './audit-page.js';

const check = process.argv.includes('--check');
const at = (path: string): URL => new URL(`../docs/${path}`, import.meta.url);

const audits: Audit[] = [];
for (const grader of GRADER_NAMES) audits.push(await audit({ grader }));
for (const one of audits) {
  const folder = `audits/${one.grader}`;
  mkdirSync(at(folder), { recursive: true });
  put(`${folder}/audit.json`, `${JSON.stringify(reproducibleJson(one), null, 2)}\n`);
  if (check) continue;
  for (const { name, drawing } of drawingsOf(one)) put(`${folder}/${name}.svg`, await svgOf(drawing));
}
put('graders.md', withTables(readFileSync(at('graders.md'), 'utf8'), audits));

function put(path: string, text: string): void {
  if (!check) {
    writeFileSync(at(path), text);
    return;
  }
  if (readFileSync(at(path), 'utf8') === text) return;
  console.error(
    `docs/${path} is not what the audit finds: run npm run audits, and read docs/graders.md again.`,
  );
  process.exitCode = 1;
}
