/**
 * Audits the published graders and writes the data, pictures and tables of docs/graders.md. With --check it fails if
 * an audit or a table differs. It does not check pictures, because another release of the drawing packages may draw
 * them differently.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Audit, audit } from '../src/evaluation/audit/audit.js';
import { drawingsOf } from '../src/evaluation/audit/audit-figures.js';
import { reproducibleJson } from '../src/evaluation/audit/audit-json.js';
import { svgOf } from '../src/figures/svg.js';
import { GRADER_NAMES } from '../src/world/fields.js';
import { withTables } from './audit-page.js';

const check = process.argv.includes('--check');
const at = (path: string): URL => new URL(`../docs/${path}`, import.meta.url);

const audits: Audit[] = [];
for (const grader of GRADER_NAMES) audits.push(await audit({ grader }));
for (const result of audits) {
  const folder = `audits/${result.grader}`;
  mkdirSync(at(folder), { recursive: true });
  put(`${folder}/audit.json`, `${JSON.stringify(reproducibleJson(result), null, 2)}\n`);
  if (check) continue;
  for (const { name, drawing } of drawingsOf(result)) put(`${folder}/${name}.svg`, await svgOf(drawing));
}
put('graders.md', withTables(readFileSync(at('graders.md'), 'utf8'), audits));

/** Writes a file of docs; with --check compares it instead. */
function put(path: string, text: string): void {
  if (!check) {
    writeFileSync(at(path), text);
    return;
  }
  if (readFileSync(at(path), 'utf8') === text) return;
  console.error(`docs/${path} differs from the audit: run npm run audits, and read docs/graders.md again.`);
  process.exitCode = 1;
}
