/**
 * Audits the published graders and writes the data, pictures and tables of docs/grader-audit.md, the shipped anchors, the open-loop
 * sequences and the reactive policies. Arguments are the graders to audit; without arguments, all. After a change of the
 * package's version, audit all: the module of the sequences names one version for all graders. If a sequence or a reactive
 * policy has changed, also run `npm run yardsticks`, which stores the scores of these policies. With --check it fails if an
 * audit, a table, an anchor or a stored policy differs. It does not check pictures, because another release of the drawing
 * packages may draw them differently.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Audit } from '../src/evaluation/audit/audit.js';
import { drawingsOf } from '../src/evaluation/audit/audit-page.js';
import { audit } from '../src/evaluation/on-first-use.js';
import { reproducibleJson } from '../src/evaluation/result-json.js';
import { svgOf } from '../src/figures/svg.js';
import { GRADER_NAMES } from '../src/world/fields.js';
import { reactiveModule, scoresModule, sequencesModule } from './audit-modules.js';
import { withTables } from './audit-page.js';

const SCORES = 'src/evaluation/measured-scores.ts';
const SEQUENCES = 'src/agents/policies/generated/open-loop-sequences.ts';
const REACTIVE = 'src/agents/policies/generated/reactive-policies.ts';
const PAGE = 'docs/grader-audit.md';
const check = process.argv.includes('--check');
const named = GRADER_NAMES.filter((name) => process.argv.includes(name));
const at = (path: string): URL => new URL(`../${path}`, import.meta.url);
const dataOf = (grader: string): string => `docs/audits/${grader}/audit.json`;

for (const grader of named.length > 0 ? named : GRADER_NAMES) {
  const result = await audit({ grader });
  await write(result);
}

/** Writes the files of an audit; with --check compares them instead. */
async function write(result: Audit): Promise<void> {
  mkdirSync(at(`docs/audits/${result.grader}`), { recursive: true });
  put(dataOf(result.grader), `${JSON.stringify(reproducibleJson(result), null, 2)}\n`);
  put(PAGE, withTables(readFileSync(at(PAGE), 'utf8'), [result]));
  const stored = GRADER_NAMES.map(dataOf).filter((path) => existsSync(at(path)));
  const audits = stored.map((path) => JSON.parse(readFileSync(at(path), 'utf8')));
  put(SCORES, scoresModule(audits));
  put(SEQUENCES, sequencesModule(audits));
  put(REACTIVE, reactiveModule(audits));
  if (check) return;
  for (const { name, drawing } of drawingsOf(result)) {
    put(`docs/audits/${result.grader}/${name}.svg`, await svgOf(drawing));
  }
}

/** Writes a file; with --check compares it instead. */
function put(path: string, text: string): void {
  if (!check) {
    writeFileSync(at(path), text);
    return;
  }
  if (readFileSync(at(path), 'utf8') === text) return;
  console.error(
    `${path} differs from the audit: run npm run audits, and check the text of docs/graders.md and docs/grader-audit.md.`,
  );
  process.exitCode = 1;
}
