/** A module with all that it imports as one text, for browsers; in memory. */
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

export interface Bundle {
  readonly text: string;
  /** Files that it is made of, relative to the repository. */
  readonly files: readonly string[];
  /** Modules that it would still import when it runs. */
  readonly imports: readonly string[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** @param entry a file, relative to the repository. @throws if a module of Node, or one that is missing, is reachable. */
export const bundleFor = (entry: string): Bundle => bundle({ entryPoints: [entry] });

/** As `bundleFor`, of code that imports from `./src`. */
export const bundleOf = (contents: string): Bundle => bundle({ stdin: { contents, resolveDir: ROOT } });

function bundle(what: BuildOptions): Bundle {
  const { outputFiles, metafile } = buildSync({
    ...{ absWorkingDir: ROOT, outdir: ROOT, write: false, logLevel: 'silent', metafile: true },
    ...{ bundle: true, platform: 'browser', format: 'esm', target: 'es2022' },
    ...what,
  });
  const [output] = Object.values(metafile!.outputs);
  return {
    text: outputFiles![0].text,
    files: Object.keys(output.inputs),
    imports: output.imports.map(({ path }) => path),
  };
}
