/** Where a dataset for SFT goes: a directory of its own, or one that holds an earlier dataset. */
import { readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS } from '../../dataset/formats.js';
import { isSftCard } from '../../dataset/sft/card.js';
import { SPLITS, type Split } from '../../dataset/sft/split.js';
import { UsageError } from '../failure.js';
import { checkOther } from '../files/input-file.js';
import { checkDirectory, makeDirectory, stat } from '../files/output-file.js';

const CARD = 'README.md';

export class SftPlace {
  readonly #directory: string;
  readonly #format: string;
  /** Directories that were made here, the innermost first. */
  #made: readonly string[] = [];

  /** @throws UsageError, before any work is done, for a directory that holds something else. */
  constructor(directory: string, format: string) {
    checkDirectory('--output', directory);
    this.#directory = directory;
    this.#format = format;
    this.#checkCard();
    this.#checkFiles();
  }

  get card(): string {
    return join(this.#directory, CARD);
  }

  /** What the file of a split is called. */
  nameOf(split: Split): string {
    return `${split}.${this.#format}`;
  }

  pathOf(split: Split): string {
    return join(this.#directory, this.nameOf(split));
  }

  #checkCard(): void {
    const there = stat(this.card);
    if (there === null || (there.isFile() && isSftCard(readFileSync(this.card, 'utf8')))) return;
    this.#refuse(`whose ${CARD} is another's`);
  }

  /** Files of another format would stay beside a card that does not speak of them. */
  #checkFiles(): void {
    const ours = stat(this.card) !== null;
    for (const { name } of FORMATS) {
      if (ours && name === this.#format) continue;
      const other = SPLITS.map((split) => `${split}.${name}`).find((file) =>
        stat(join(this.#directory, file)),
      );
      if (other !== undefined)
        this.#refuse(`where there is another ${other}`, ', or remove what an interrupted run left');
    }
  }

  #refuse(which: string, also = ''): never {
    throw new UsageError(
      `Expected --output to be a directory of its own, got ${this.#directory}, ${which}. Name another${also}.`,
    );
  }

  /** @throws UsageError for trajectories that rows would be written over. */
  checkInputs(option: string, paths: readonly string[]): void {
    for (const path of paths) {
      for (const split of SPLITS) checkOther(option, path, `the ${split} of --output`, this.pathOf(split));
    }
  }

  make(): void {
    this.#made = makeDirectory(this.#directory);
  }

  /** Removes the card of the dataset that was there before. */
  clearCard(): void {
    // Where a link points, so that the link stays one.
    if (stat(this.card) !== null) rmSync(realpathSync(this.card));
  }

  /** Removes a split's file of the dataset that was there before. */
  clear(split: Split): void {
    rmSync(this.pathOf(split), { force: true });
  }

  /** Removes the directories that were made here, after nothing came of them, unless somebody uses them by now. */
  unmake(): void {
    for (const directory of this.#made) if (readdirSync(directory).length === 0) rmdirSync(directory);
  }
}
