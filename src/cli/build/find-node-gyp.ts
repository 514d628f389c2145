/** Finds node-gyp, which comes with npm. */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const IS_WINDOWS = process.platform === 'win32';
/** The program of node-gyp, relative to a folder with packages. */
const PROGRAM = 'node_modules/node-gyp/bin/node-gyp.js';

/**
 * Returns the command that runs node-gyp: the one that npm names in a variable, else the one of this Node's npm, else that of
 * the npm on the PATH, else the one on the PATH. The last is not the first, because Yarn puts a command of this name on the PATH
 * that needs node-gyp as a dependency. @returns null if there is none.
 */
export function findNodeGyp(env = process.env, node = process.execPath): readonly string[] | null {
  // Bun and Deno run this too.
  const { bun, deno } = process.versions;
  const program = bun === undefined && deno === undefined ? node : 'node';
  if (env.npm_config_node_gyp) return [program, env.npm_config_node_gyp];
  const installed = findOnPath('node-gyp', env);
  const folders = npmFolders(env, node);
  // On Windows a command on the PATH is a batch file beside node_modules, and needs a shell. The program needs none.
  if (installed !== null && IS_WINDOWS) folders.push(dirname(installed));
  const nodeGyp = folders.map((folder) => join(folder, PROGRAM)).find(existsSync);
  if (nodeGyp !== undefined) return [program, nodeGyp];
  return installed === null || IS_WINDOWS ? null : [installed];
}

/** Returns the folders where npm may be. */
function npmFolders(env: NodeJS.ProcessEnv, node: string): string[] {
  const npm = findOnPath('npm', env);
  const folder = dirname(realpathSync(node));
  const own = join(folder, IS_WINDOWS ? 'node_modules/npm' : '../lib/node_modules/npm');
  if (npm === null) return [own];
  return [own, IS_WINDOWS ? join(dirname(npm), 'node_modules/npm') : join(dirname(realpathSync(npm)), '..')];
}

function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const file = IS_WINDOWS ? `${name}.cmd` : name;
  return folders.map((folder) => join(folder, file)).find(existsSync) ?? null;
}
