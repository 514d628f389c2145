/** Section: how players use the ten actions, by group of profiles. */
import { grouped } from '../../evaluation/format-results.js';
import { drawActions } from '../../figures/action-shares.js';
import { decimal } from '../../figures/format-numbers.js';
import { ACTION_NAMES } from '../../world/fields.js';
import type { CountedUse } from '../action-counts.js';
import { type Column, collapsible, paragraph, table } from '../html.js';
import { paginateFigures } from '../paginate-figures.js';
import { disambiguated } from '../player-names.js';
import type { ReportData } from '../result-gatherer.js';
import type { Section } from '../section.js';

/** The largest number of players in a figure that fits a printed page. */
const MAX_PLAYERS = 4;

/** Returns the section; null if no file has episodes. */
export function actionsSection(data: ReportData): Section | null {
  const players = disambiguated(data.players);
  if (players.length === 0) return null;
  const panels = players.map(({ name, actions }) => ({ name, rows: actions }));
  const rows = players.flatMap(({ name, actions }) => actions.map((use) => ({ player: name, ...use })));
  return {
    id: 'actions',
    title: 'Use of the ten actions',
    parts: [
      paragraph(
        'Rows are named profiles, all sampled profiles together, and thirds of the sampled profiles by belief target ' +
          '(social, morning, work). In brackets: the number of episodes. If the rows of a player are alike, the player does not adapt ' +
          'to the profile.',
      ),
      ...paginateFigures('actions', panels, MAX_PLAYERS, (subset) => drawActions({ players: subset })),
      collapsible('The same as a table', table('Share of steps by action, in percent', COLUMNS, rows)),
    ],
  };
}

type Row = CountedUse & { readonly player: string };

const COLUMNS: readonly Column<Row>[] = [
  { head: 'player', cell: ({ player }) => player },
  { head: 'profiles', cell: ({ group }) => group, numeric: false },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  ...ACTION_NAMES.map((action, code) => ({
    head: action,
    cell: ({ shares }: Row) => decimal(100 * shares[code], 1),
  })),
];
