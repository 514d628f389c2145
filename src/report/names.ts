/** What players are called, and told apart by where several files have them. */
import { STEPPED_POLICIES } from '../policies/stepped.js';
import type { Player } from '../trajectory/episode.js';
import { ORACLE_MARK, teacherName } from '../trajectory/player-name.js';
import { madePrintable } from '../validate/names.js';

/** More of a name than this makes a picture too wide to be read. */
const MAX_LENGTH = 72;

/** "llm:MODEL (wellbeing) [oracle]"; a policy of an evaluation by its name alone, which says what it wants. */
export function nameOf(player: Player): string {
  const { teacher, objective, oracle } = player;
  const known = STEPPED_POLICIES.find(({ name }) => name === teacher);
  const wants = objective === null || known?.objective === objective ? '' : ` (${objective})`;
  return `${shortened(teacherName(player))}${wants}${oracle ? ORACLE_MARK : ''}`;
}

/** A name that no terminal and no page obeys, and that fits. */
export function shortened(name: string): string {
  const characters = Array.from(madePrintable(name));
  return characters.length <= MAX_LENGTH
    ? characters.join('')
    : `${characters.slice(0, MAX_LENGTH - 1).join('')}…`;
}

/** The same names, those that would be there again with a number. */
export function madeUnique<Row extends { readonly name: string }>(rows: readonly Row[]): Row[] {
  const seen = new Set<string>();
  return rows.map((row) => {
    let { name } = row;
    for (let again = 2; seen.has(name); again++) name = `${row.name} (${again})`;
    seen.add(name);
    return { ...row, name };
  });
}

/** Names that say of which file, where several files have the same; all different. */
export function toldApart<Row extends { readonly name: string; readonly source: string }>(
  rows: readonly Row[],
): Row[] {
  const sources = new Map<string, Set<string>>();
  for (const { name, source } of rows) {
    sources.set(name, (sources.get(name) ?? new Set()).add(source));
  }
  const named = rows.map((row) =>
    sources.get(row.name)!.size > 1 ? { ...row, name: `${row.name} · ${row.source}` } : row,
  );
  return madeUnique(named);
}

/** What files are called: as short as tells them apart. */
export function fileLabels(paths: readonly string[]): string[] {
  const bases = paths.map((path) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1));
  const labels = bases.map((base, k) => ({
    name: shortened(bases.indexOf(base) === bases.lastIndexOf(base) ? base : paths[k]),
  }));
  return madeUnique(labels).map(({ name }) => name);
}
