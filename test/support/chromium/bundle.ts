/** Bundles a module and its imports for browsers, in memory. */
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

export interface Bundle {
  readonly text: string;
  /** The bundled files, relative to the repository. */
  readonly files: readonly string[];
  /** Modules that the bundle imports at run time. */
  readonly imports: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Bundles a file. @param entry relative to the repository. @throws if it imports a Node module or a missing one. */
export const bundleFor = (entry: string): Bundle => bundle({ entryPoints: [entry] });

/** Bundles code that imports from `./src`. @throws as `bundleFor`. */
export const bundleOf = (contents: string): Bundle => bundle({ stdin: { contents, resolveDir: ROOT } });

function bundle(what: BuildOptions): Bundle {
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: ROOT,
    outdir: ROOT,
    write: false,
    logLevel: 'silent',
    metafile: true,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    ...what,
  });
  const [output] = Object.values(metafile!.outputs);
  return {
    text: outputFiles![0].text,
    files: Object.keys(output.inputs),
    imports: output.imports.map(({ path }) => path),
  };
}
