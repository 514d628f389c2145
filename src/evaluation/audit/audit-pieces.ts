/** The costly pieces of an audit. Each shard of an audit computes some of them; the command `merge` computes none. */

/** A search, or a recording of episodes. */
export interface Piece<Result> {
  /** The piece's name, unique in an audit. */
  readonly name: string;
  readonly compute: () => Promise<Result>;
  /** Any result of the same shape, for shards that skip the piece. Null if other pieces need the result: no shard skips it. */
  readonly ifSkipped: (() => Result) | null;
}

/** Returns the result of a piece: computes it, or returns a stored result or that of `ifSkipped`. */
export type ComputePiece = <Result>(piece: Piece<Result>) => Promise<Result>;

/** Computes a piece. For audits without shards, which store and skip no piece. */
export const computePiece: ComputePiece = ({ compute }) => compute();
