/** How players use the ten actions, by whose weeks they play. */
import { grouped } from '../../evaluate/figures.js';
import { drawActions } from '../../pictures/actions.js';
import { decimal } from '../../pictures/numbers.js';
import { ACTION_NAMES } from '../../world/fields.js';
import type { CountedUse } from '../action-counts.js';
import { figuresOf } from '../figures-of.js';
import type { ReportData } from '../gathered.js';
import { type Column, folded, paragraph, table } from '../html.js';
import { toldApart } from '../names.js';
import type { Section } from '../section.js';

/** Null where no file has episodes. */
export function actionsSection(data: ReportData): Section | null {
  const players = toldApart(data.players);
  if (players.length === 0) return null;
  const groups = players.map(({ name, actions }) => ({ name, rows: actions }));
  const rows = players.flatMap(({ name, actions }) => actions.map((use) => ({ player: name, ...use })));
  return {
    id: 'actions',
    title: 'Use of the ten actions',
    parts: [
      paragraph(
        'Named profiles each by itself; sampled persons all together, and by thirds of what is true of them (social, ' +
          'morning, work), as the world draws people. In brackets: weeks. A player whose rows are alike looks at nobody.',
      ),
      ...figuresOf('actions', groups, 4, (some) => drawActions({ groups: some })),
      folded('The same as a table', table('Share of steps by action, in percent', COLUMNS, rows)),
    ],
  };
}

type Row = CountedUse & { readonly player: string };

const COLUMNS: readonly Column<Row>[] = [
  { head: 'player', cell: ({ player }) => player },
  { head: 'whose weeks', cell: ({ group }) => group, numeric: false },
  { head: 'weeks', cell: ({ weeks }) => grouped(weeks) },
  ...ACTION_NAMES.map((action, code) => ({
    head: action,
    cell: ({ shares }: Row) => decimal(100 * shares[code], 1),
  })),
];
