/** The output directory of a dataset with splits. An earlier dataset in it is replaced. */
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FORMATS } from '../../shared/row-files/file-formats.js';
import { SPLITS, type Split } from '../../training/datasets/episode-selection.js';
import { UsageError } from '../command-errors.js';
import { checkDirectory } from '../files/check-outputs.js';
import { checkDifferentFile } from '../files/input-file.js';
import { makeDirectory, removeEmpty, stat } from '../files/paths.js';

const CARD = 'README.md';

/** The kind of dataset. An earlier dataset of the same kind may be replaced. */
interface Kind {
  readonly name: string;
  /** Returns whether a README.md is a card of this kind. */
  readonly isCard: (text: string) => boolean;
}

export class SplitDirectory {
  readonly #directory: string;
  readonly #format: string;
  readonly #kind: Kind;
  /** Directories that this run created, the innermost first. */
  #created: readonly string[] = [];

  /** @throws UsageError for an unusable directory; a README.md of another kind; splits without a card or of another format. */
  constructor(directory: string, format: string, kind: Kind) {
    checkDirectory('--output', directory);
    this.#kind = kind;
    this.#directory = directory;
    this.#format = format;
    this.#checkCard();
    this.#checkFiles();
  }

  /** The path of the card. */
  get card(): string {
    return join(this.#directory, CARD);
  }

  /** Returns the file name of a split. */
  nameOf(split: Split): string {
    return `${split}.${this.#format}`;
  }

  /** Returns the path of a split's file. */
  pathOf(split: Split): string {
    return join(this.#directory, this.nameOf(split));
  }

  #checkCard(): void {
    const existing = stat(this.card);
    if (existing === null || (existing.isFile() && this.#kind.isCard(readFileSync(this.card, 'utf8'))))
      return;
    this.#refuse(`whose ${CARD} is not the card of a dataset for ${this.#kind.name.toUpperCase()}`);
  }

  /** Refuses splits without a card, and splits of another format, which the new card would not describe. */
  #checkFiles(): void {
    const hasCard = stat(this.card) !== null;
    for (const { name } of FORMATS) {
      if (hasCard && name === this.#format) continue;
      const other = SPLITS.map((split) => `${split}.${name}`).find((file) =>
        stat(join(this.#directory, file)),
      );
      if (other !== undefined)
        this.#refuse(`which already contains ${other}`, ', or remove the files of an interrupted run');
    }
  }

  #refuse(which: string, also = ''): never {
    throw new UsageError(
      `Expected --output to be a directory of its own, got ${this.#directory}, ${which}. Name another directory${also}.`,
    );
  }

  /** Refuses inputs that the rows would overwrite. @throws UsageError. */
  checkInputs(option: string, paths: readonly string[]): void {
    for (const path of paths) {
      for (const split of SPLITS)
        checkDifferentFile(option, path, `the ${split} file of --output`, this.pathOf(split));
    }
  }

  /** Creates the directory, and the directories above it that are missing. */
  create(): void {
    this.#created = makeDirectory(this.#directory);
  }

  /** Removes the card of an earlier dataset. */
  removeCard(): void {
    // Removes the target of a link, so that the link stays.
    if (stat(this.card) !== null) rmSync(realpathSync(this.card));
  }

  /** Removes a split's file of an earlier dataset. */
  removeSplit(split: Split): void {
    rmSync(this.pathOf(split), { force: true });
  }

  /** Removes the directories that this run created, if they are still empty. */
  removeCreated(): void {
    removeEmpty(this.#created);
  }
}
