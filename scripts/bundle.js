/**
 * Bundles the compiled modules of dist into lib, which the package contains. A few files load faster than hundreds.
 * Packages that are not dependencies of the installed package become part of the bundle, with their licences in
 * lib/LICENSES.txt. Copies binding.gyp into lib, and into lib/types the declarations that the library's entry points reach.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const LIB = join(ROOT, 'lib');
const TYPES = join(LIB, 'types');
const { version, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const SUBPATHS = ['env', 'rollouts', 'agents', 'evaluation', 'server', 'training'];
/**
 * The chunks, each of the modules of a room, or of a part of it. A chunk comes after those that import it. A chunk also has
 * the modules that its modules import, unless a later one has them. So `trajectories` includes zod, which the library needs
 * only for files. The command line imports `errors` even if no command runs.
 */
const CHUNKS = [
  ['evaluation', /^evaluation\//],
  ['agents', /^agents\//],
  ['trajectories', /^(rollouts\/trajectories\/|shared\/row-schemas)/],
  ['rollouts', /^rollouts\/(?!trajectories)/],
  ['engine', /^(engine|world)\//],
  ['shared', /^shared\/(?!row-schemas)/],
  ['errors', /^shared\/(errors|names|version)\.js$/],
];

/** The entry points by name. */
const NODE = {
  index: 'index.js',
  cli: 'cli/main.js',
  'shard-program': 'cli/queue/shard-program.js',
  'serve-worker': 'server/serve-worker.js',
  ...Object.fromEntries(SUBPATHS.map((name) => [name, `exports/${name}.js`])),
};
const BROWSER = {
  browser: 'browser.js',
  'browser/env': 'exports/browser/env.js',
  'browser/rollouts': 'exports/browser/rollouts.js',
  'browser/agents': 'exports/browser/agents.js',
  'browser/evaluation': 'exports/common/evaluation.js',
};

/** Packages that remain imports. The templates of hono are bundled, so that a report does not need hono. */
const external = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
const isExternal = (id) =>
  id !== 'hono/html' && external.some((name) => id === name || id.startsWith(`${name}/`));

/** Bundles entry points. @returns the files of packages that became part of the bundle. */
async function bundle(entries, platform, folder) {
  const input = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(DIST, path)]));
  const build = await rolldown({
    input,
    platform,
    external: isExternal,
    transform: { define: { RHYTHM_VERSION: JSON.stringify(version) } },
    // Entry points import modules that others load when they need them.
    checks: { ineffectiveDynamicImport: false },
  });
  const groups = CHUNKS.map(([name, pattern], priority) => ({
    name: `${folder}${name}`,
    priority,
    test: (id) => pattern.test(relative(DIST, id)),
    // Only modules that an entry point imports statically.
    tags: ['$initial'],
  }));
  const { output } = await build.write({
    dir: LIB,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) =>
      name.startsWith(folder) ? '[name]-[hash].js' : `${folder}[name]-[hash].js`,
    codeSplitting: { groups },
    // Rollup, which a user may bundle with, warns of comments that look like its annotations.
    comments: { jsdoc: false },
  });
  await build.close();
  return output.flatMap(({ moduleIds = [] }) => moduleIds).filter((id) => id.includes('/node_modules/'));
}

/** Returns the licences of bundled packages. */
function licencesOf(files) {
  const folders = new Set(files.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)[0]));
  const texts = Array.from(folders, (folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.sort().join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * Returns a declaration whose optional properties may be undefined, as the calls allow: with the option
 * `exactOptionalPropertyTypes` of a project, they may only be absent.
 */
const allowUndefined = (declaration) =>
  declaration.replace(
    /^(\s+(?:readonly )?\w+\?: )(.*?)(;?)$/gm,
    (_, property, type, end) =>
      `${property}undefined | ${type.includes('=>') && end ? `(${type})` : type}${end}`,
  );

/** Copies the declarations that entry points reach, for import, and again for require. */
function copyTypes(entries) {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(
      /(?:from|import\() ?['"](\.[^'"]+)\.js['"]/g,
    )) {
      visit(join(dirname(path), `${specifier}.d.ts`));
    }
  };
  for (const path of entries) visit(join(DIST, path.replace(/js$/, 'd.ts')));
  for (const path of reached) {
    for (const folder of ['', 'commonjs']) {
      const copy = join(TYPES, folder, relative(DIST, path));
      mkdirSync(dirname(copy), { recursive: true });
      writeFileSync(copy, allowUndefined(readFileSync(path, 'utf8')));
    }
  }
  writeFileSync(join(TYPES, 'commonjs/package.json'), '{ "type": "commonjs" }\n');
}

rmSync(LIB, { recursive: true, force: true });
const bundled = [...(await bundle(NODE, 'node', '')), ...(await bundle(BROWSER, 'browser', 'browser/'))];
// The binary as a file too, for runtimes that compile no WebAssembly at run time: see useWasmModule.
const { BINARY } = await import(join(DIST, 'engine/backends/wasm/generated/binary.js'));
writeFileSync(join(LIB, 'rhythm.wasm'), Buffer.from(BINARY, 'base64'));
writeFileSync(join(LIB, 'LICENSES.txt'), licencesOf(bundled));
chmodSync(join(LIB, 'cli.js'), 0o755);
// Not beside the package's package.json, where pnpm and Yarn would compile it during installation.
copyFileSync(join(ROOT, 'binding.gyp'), join(LIB, 'binding.gyp'));
const { cli, 'shard-program': _, 'serve-worker': __, ...library } = NODE;
copyTypes([...Object.values(library), ...Object.values(BROWSER)]);
writeFileSync(
  join(TYPES, 'rhythm.wasm.d.ts'),
  "declare const module: import('./engine/backends/wasm/instance.js').WasmModule;\nexport default module;\n",
);
