/**
 * The program of a worker's threads. It imports its modules on use, because the bundler puts what an entry point imports at once
 * into chunks that every program loads.
 */
await import('./compute-shards.js');
