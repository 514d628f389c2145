/** The formats that rows are written in. */
import type { RowEncoder } from './encoder.js';
import { jsonlEncoder } from './jsonl.js';
import type { Provenance } from './provenance.js';

export interface RowFormat {
  /** Also what names of such files end with. */
  readonly name: string;
  readonly open: (provenance: Provenance) => Promise<RowEncoder>;
}

export const FORMATS: readonly RowFormat[] = [
  { name: 'jsonl', open: async () => jsonlEncoder() },
  {
    name: 'parquet',
    // Only who writes it waits for its library.
    open: async (provenance) => (await import('./parquet.js')).parquetEncoder(provenance),
  },
];
