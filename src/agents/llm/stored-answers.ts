/** Answers as lines of a file or of a list, which only grow. */
import type { Answer, AnswerLog } from './language-model.js';

/** One line. `run` stands for everything that the prompt depends on besides the episode: see `StoredAnswers`. */
interface AnswerLine {
  readonly answer: string;
  readonly step: number;
  readonly run: string;
  readonly value: Answer;
}

/** The beginnings of the lines of a file that no episode has: of an answer, and of the amount spent. */
export const ANSWER_HEAD = '{"answer":';
export const SPENT_HEAD = '{"spent_usd":';

/** Keeps answers in memory and appends them as lines. */
export class StoredAnswers implements AnswerLog {
  readonly #run: string;
  readonly #append: (line: string) => Promise<void>;
  readonly #answers = new Map<string, Answer>();

  /**
   * @param run identifies the grader and the sampling. @param append stores a line, which has a line end; once its promise
   *   resolves, no crash can lose the line.
   */
  constructor(run: string, append: (line: string) => Promise<void>) {
    this.#run = run;
    this.#append = append;
  }

  /** The number of stored answers. */
  get size(): number {
    return this.#answers.size;
  }

  /** Reads a stored line. Of two answers at one step the first counts. @returns false for an answer of another run. */
  read(line: string): boolean {
    const { answer, step, run, value } = JSON.parse(line) as AnswerLine;
    if (run !== this.#run) return false;
    const key = placeOf(answer, step);
    if (!this.#answers.has(key)) this.#answers.set(key, value);
    return true;
  }

  get(key: string, step: number): Answer | undefined {
    return this.#answers.get(placeOf(key, step));
  }

  async add(key: string, step: number, value: Answer): Promise<void> {
    const line: AnswerLine = { answer: key, step, run: this.#run, value };
    await this.#append(`${JSON.stringify(line)}\n`);
    this.#answers.set(placeOf(key, step), value);
  }
}

const placeOf = (key: string, step: number): string => `${key} ${step}`;
