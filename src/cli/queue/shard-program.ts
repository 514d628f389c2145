/**
 * The program of a worker's threads. The import is dynamic, so that modules that only this program uses do not become part of
 * the chunks that other programs load (CHUNKS of scripts/bundle.js).
 */
await import('./compute-shards.js');
