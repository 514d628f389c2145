/** Shows the progress of an upload. */
import { createProgress, type Progress } from '../progress.js';

/** A pass over the files: reading their contents, hashing large files, or sending. */
export type Pass = 'read' | 'hashed' | 'sent';

/** The progress bars of reading, hashing and sending, one at a time. */
export class UploadProgress {
  /** The number of bytes at which a bar is full. While it is 0, no bar is shown. */
  total = 0;
  readonly #stream: NodeJS.WriteStream;
  readonly #done: Record<Pass, number> = { read: 0, hashed: 0, sent: 0 };
  #current: { readonly pass: Pass; readonly bar: Progress } | null = null;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** Adds bytes to a pass. @param bytes negative after a failed attempt. */
  add(pass: Pass, bytes: number): void {
    this.#done[pass] += bytes;
    if (this.total > 0) this.#barOf(pass).update(this.#within(this.#done[pass]), this.total);
  }

  /** Removes the bar until the next bytes. */
  stop(): void {
    this.#current?.bar.stop();
    this.#current = null;
  }

  #barOf(pass: Pass): Progress {
    if (this.#current?.pass !== pass) {
      this.stop();
      this.#current = { pass, bar: createProgress(`bytes ${pass}`, this.#stream) };
    }
    return this.#current!.bar;
  }

  /** Limits a count to the range from 0 to the total. After a conflict with another commit, commit.ts counts hashed bytes again. */
  readonly #within = (bytes: number): number => Math.min(Math.max(bytes, 0), this.total);
}
