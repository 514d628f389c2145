/** Text tables without borders. */
import Table from 'cli-table3';

export type Alignment = 'left' | 'right';
type Row = Parameters<InstanceType<typeof Table>['push']>[0];

/**
 * Renders rows of cells as text, without a line end. @param heads one or more lines each. @param left the number of first
 * columns that are aligned to the left, or the alignment of each column.
 */
export function renderColumns(
  heads: readonly string[],
  rows: readonly Row[],
  left: number | readonly Alignment[] = 1,
): string {
  const alignments =
    typeof left === 'number' ? heads.map((_, k): Alignment => (k < left ? 'left' : 'right')) : left;
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    colAligns: [...alignments],
  });
  table.push(
    heads.map((content, k) => ({ content, hAlign: alignments[k] })),
    ...rows,
  );
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Column heads of the components, by COMPONENT_NAMES. */
export const COMPONENT_HEADS: Readonly<Record<string, string>> = {
  crash_free: 'crash\nfree',
  progress: 'prog-\nress',
  connection: 'conn-\nect.',
  adaptation: 'adapt-\nation',
  efficiency: 'effi-\nciency',
  belief_accuracy: 'belief\nacc.',
  wellbeing: 'well-\nbeing',
  belief_skill: 'belief\nskill',
};

/** No characters for any border, by the names of cli-table3. */
const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', 'middle']
    .flatMap((name) => [name, `${name}-mid`, `${name}-left`, `${name}-right`])
    .map((name) => [name, '']),
);

/** Chosen by hand. */
const WIDTH = 100;

/** Breaks a text between words into lines of at most `width` characters. A longer word stays whole. */
export function wrap(text: string, width = WIDTH): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}
