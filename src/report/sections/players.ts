/** The players of all files by names that tell them apart. */
import type { ReportData, ReportedPlayer } from '../gathered.js';
import { madeUnique } from '../names.js';

/** Where several files have players, each says which it is of. */
export function namedPlayers({ players }: ReportData): ReportedPlayer[] {
  const several = new Set(players.map(({ source }) => source)).size > 1;
  return madeUnique(
    players.map((player) => ({
      ...player,
      name: several ? `${player.name} · ${player.source}` : player.name,
    })),
  );
}
