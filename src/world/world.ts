/** Creates worlds from their numbers: validated, with the block of words and the digest. */
import { InputError } from '../shared/errors.js';
import { buildBlock, type Params, readBlock, worldDigest } from './block.js';
import { RHYTHM, type WorldSpec } from './numbers.js';
import { validateWorld } from './validate-world.js';

/** A world ready for stepping. */
export interface World {
  /** Every number, as validated. */
  readonly spec: WorldSpec;
  /** The block (see block.ts). Treat as read-only: backends keep copies. */
  readonly words: Uint32Array;
  /** The numbers of the block, by name. */
  readonly params: Params;
  /** SHA-256 of the block, hexadecimal. */
  readonly digest: string;
}

/**
 * Validates a world and derives its block.
 * @param spec the published world, or a copy of `RHYTHM` with other numbers.
 * @throws InputError `bad_world` that names the field.
 */
export function createWorld(spec: WorldSpec = RHYTHM): World {
  if (spec === RHYTHM) return copyPublished();
  return deriveWorld(copyOf(validateWorld(spec)));
}

function deriveWorld(spec: WorldSpec): World {
  const words = buildBlock(spec);
  return { spec, words, params: readBlock(words), digest: worldDigest(words) };
}

/** Returns a world's name and digest, for errors: `rhythm (155a...)`. */
export const identityOf = ({ spec, digest }: Pick<World, 'spec' | 'digest'>): string =>
  `${spec.name} (${digest})`;

let published: World | undefined;

/** Returns the published world with words of its own. The world is derived once: `RHYTHM` is frozen, so it cannot change. */
function copyPublished(): World {
  published ??= deriveWorld(validateWorld(RHYTHM));
  const words = published.words.slice();
  return { ...published, words, params: readBlock(words) };
}

/** Copies a world. Validates the copy, because a getter may return another value. */
function copyOf(spec: WorldSpec): WorldSpec {
  try {
    return validateWorld(structuredClone(spec));
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const message = (cause as Error).message;
    throw new InputError(
      'bad_world',
      {
        expected: 'plain data at world',
        got: `a value that cannot be copied: ${message} Start from a copy of RHYTHM`,
        remedy: '',
      },
      { cause },
    );
  }
}
