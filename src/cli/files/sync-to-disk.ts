/** Writes to disk what the system still holds of a file in memory. */
import { fsync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Does what the method `sync` of a handle does. Under Yarn's Plug'n'Play that method always throws. */
export const syncToDisk = ({ fd }: FileHandle): Promise<void> => promisify(fsync)(fd);
