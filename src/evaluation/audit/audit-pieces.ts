/** The costly pieces of an audit. Each shard of an audit computes some of the pieces. The command `merge` computes none. */

/** A search, or a recording of episodes. */
export interface Piece<Result> {
  /** The piece's name, unique in an audit. */
  readonly name: string;
  readonly compute: () => Promise<Result>;
  /** Any result of the same shape, for a shard that does not compute the piece; null if other pieces depend on the result. */
  readonly standIn: (() => Result) | null;
}

/** Returns the result of a piece: computes it, or returns a stored result or a stand-in. */
export type ComputePiece = <Result>(piece: Piece<Result>) => Promise<Result>;

/** Computes every piece. */
export const computePiece: ComputePiece = ({ compute }) => compute();
