/**
 * Counts what one reads to understand a file: the files and lines that its imports reach, with the imports that run later.
 * Imports of types alone count apart, and generated files do not count. `npm run reading -- FILE...` takes other files.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ENTRIES = [
  'src/engine/vec-env/vec-env.ts',
  'src/rollouts/replay/score-replay.ts',
  'src/agents/planner/planner-core.ts',
  'src/evaluation/evaluate.ts',
  'src/evaluation/audit/audit.ts',
  'src/training/student/train.ts',
  'src/cli/eval/command.ts',
  'src/cli/teach.ts',
];
/** Imports all commands, of which one runs. */
const DISPATCH = 'src/cli/commands.ts';

const entries = process.argv.length > 2 ? process.argv.slice(2) : ENTRIES;
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: entries,
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  format: 'esm',
  splitting: true,
  outdir: 'reading',
  packages: 'external',
  logLevel: 'error',
});

/** Returns the files that a file imports. */
function importsOf(file, kinds) {
  return metafile.inputs[file].imports
    .filter(({ kind, external }) => !external && kinds.includes(kind))
    .map(({ path }) => path);
}

/** Returns the files that imports of these kinds reach. */
function reached(entry, kinds) {
  const files = new Set([entry]);
  for (const file of files) {
    const followed = file === DISPATCH ? kinds.filter((kind) => kind !== 'dynamic-import') : kinds;
    for (const path of importsOf(file, followed)) files.add(path);
  }
  return Array.from(files).filter((file) => !file.includes('/generated/'));
}

/** Returns the files that only imports of types name. */
function typesOf(files) {
  const named = files.flatMap((file) =>
    Array.from(readFileSync(ROOT + file, 'utf8').matchAll(/from '(\.[^']+)\.js'/g), ([, path]) =>
      new URL(`${path}.ts`, `file:///${file}`).pathname.slice(1),
    ),
  );
  return Array.from(new Set(named)).filter((file) => !files.includes(file) && !file.includes('/generated/'));
}

const linesOf = (files) =>
  files.flatMap((file) =>
    readFileSync(ROOT + file, 'utf8')
      .trimEnd()
      .split('\n'),
  );
/** Returns the lines that are neither blank nor part of a comment. */
const codeOf = (lines) => lines.filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line));

const table = new Table({
  head: ['file', 'files', 'lines', 'of code', 'with later imports', 'types alone'],
  style: { head: [], border: [] },
});
for (const entry of entries) {
  const files = reached(entry, ['import-statement']);
  const lines = linesOf(files);
  const later = reached(entry, ['import-statement', 'dynamic-import']);
  const types = typesOf(files);
  const of = (list) => `${list.length}, ${linesOf(list).length}`;
  table.push([entry, files.length, lines.length, codeOf(lines).length, of(later), of(types)]);
}
console.log(table.toString());
