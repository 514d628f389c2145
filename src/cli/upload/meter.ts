/** How far an upload is, as a bar. */
import { createProgress, type Progress } from '../progress.js';

/** Each is a way through files of its own: what stands in them, the name of large ones, and to the Hub. */
export type Passage = 'read' | 'hashed' | 'sent';

/** Bytes that are read, hashed and sent, one bar at a time. */
export class Meter {
  /** Bytes that there are. */
  total = 0;
  readonly #stream: NodeJS.WriteStream;
  readonly #done: Record<Passage, number> = { read: 0, hashed: 0, sent: 0 };
  #shown: { readonly passage: Passage; readonly bar: Progress } | null = null;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** @param bytes more of them; fewer, where an attempt failed. */
  add(passage: Passage, bytes: number): void {
    this.#done[passage] += bytes;
    if (this.total > 0) this.#barOf(passage).update(this.#within(this.#done[passage]), this.total);
  }

  /** Removes the bar, until there are more bytes. */
  stop(): void {
    this.#shown?.bar.stop();
    this.#shown = null;
  }

  #barOf(passage: Passage): Progress {
    if (this.#shown?.passage !== passage) {
      this.stop();
      this.#shown = { passage, bar: createProgress(`bytes ${passage}`, this.#stream) };
    }
    return this.#shown!.bar;
  }

  /** What is sent twice, as others commit meanwhile, is no more than all. */
  readonly #within = (bytes: number): number => Math.min(Math.max(bytes, 0), this.total);
}
