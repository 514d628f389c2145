/** Names players (the policies that chose the actions of episodes), and makes the names in a report unique. */
import { STEPPED_POLICIES } from '../agents/policies/stepped-policies.js';
import { ORACLE_MARK, type Player, teacherName } from '../rollouts/trajectories/trajectory-episode.js';
import { toPrintable } from '../shared/names.js';

/** The largest length of a shortened name, in characters. Longer names make figures illegible. */
const MAX_LENGTH = 72;

/**
 * Returns a player's name: "llm:MODEL (wellbeing) [oracle]". Omits an objective that a built-in policy's name implies.
 * @param name the first part: the teacher's name, or a shortened one.
 */
export function playerName(player: Player, name = teacherName(player)): string {
  const { teacher, objective, oracle } = player;
  const policy = STEPPED_POLICIES.find((candidate) => candidate.name === teacher);
  const suffix = objective === null || policy?.objective === objective ? '' : ` (${objective})`;
  return `${name}${suffix}${oracle ? ORACLE_MARK : ''}`;
}

/** Returns a player's name as `playerName`, but with the teacher's name shortened to fit a figure. */
export const shortPlayerName = (player: Player): string => playerName(player, shortened(teacherName(player)));

/** Returns a name without control characters, shortened to fit. */
export function shortened(name: string): string {
  const characters = Array.from(toPrintable(name));
  return characters.length <= MAX_LENGTH
    ? characters.join('')
    : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}

/** Numbers equal names: "a", "a (2)". */
export function uniqueNames<Row extends { readonly name: string }>(rows: readonly Row[]): Row[] {
  const usedNames = new Set<string>();
  return rows.map((row) => {
    let { name } = row;
    for (let k = 2; usedNames.has(name); k++) name = `${row.name} (${k})`;
    usedNames.add(name);
    return { ...row, name };
  });
}

/** Adds the file's label to names that occur in several files, and makes all names unique. */
export function disambiguated<Row extends { readonly name: string; readonly source: string }>(
  rows: readonly Row[],
): Row[] {
  const sources = new Map<string, Set<string>>();
  for (const { name, source } of rows) {
    sources.set(name, (sources.get(name) ?? new Set()).add(source));
  }
  const labelled = rows.map((row) =>
    sources.get(row.name)!.size > 1 ? { ...row, name: `${row.name} · ${row.source}` } : row,
  );
  return uniqueNames(labelled);
}

/** Returns a distinct label for each file: its name, or its path if another file has the same name. */
export function fileLabels(paths: readonly string[]): string[] {
  const bases = paths.map((path) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));
  const labels = bases.map((base, k) => ({
    name: shortened(bases.indexOf(base) === bases.lastIndexOf(base) ? base : paths[k]),
  }));
  return uniqueNames(labels).map(({ name }) => name);
}
