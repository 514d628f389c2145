/**
 * The program of a worker's threads. It uses a dynamic import, because the bundler puts the static imports of an entry point
 * into chunks that every program loads.
 */
await import('./compute-shards.js');
