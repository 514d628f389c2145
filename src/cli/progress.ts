/** Shows progress: on a terminal a bar for long work, elsewhere a line at most every ten seconds. */
import cliProgress from 'cli-progress';
import { grouped } from '../evaluation/format-results.js';

/** Whether --quiet is given. commands.ts sets it before a command runs. */
let quiet = false;

export const isQuiet = (): boolean => quiet;

export const setQuiet = (value: boolean): void => {
  quiet = value;
};

/**
 * The bar appears if the total, in the unit of the counts, exceeds LONG_TOTAL, or after LONG_MS milliseconds. Both are chosen
 * by hand: with lower limits a bar also appears for short work.
 */
const LONG_TOTAL = 1e6;
const LONG_MS = 1000;
/**
 * The least milliseconds before the first line, and between lines. Chosen by hand: less fills logs, more shows progress later.
 */
const LINE_MS = 10_000;

export interface Progress extends Disposable {
  /** Updates the bar, or writes a line if one is due. @param note further text, such as the amount spent. */
  update(done: number, total: number, note?: string): void;
  /** Removes the bar until the next update. Disposal does the same. */
  stop(): void;
}

type Clock = () => number;

const SILENT: Progress = { update() {}, stop() {}, [Symbol.dispose]() {} };

/**
 * Returns a progress bar, or progress in lines if the stream is not a terminal. With --quiet, shows nothing.
 * @param unit the noun of the counts.
 * @param now a clock in milliseconds.
 */
export function createProgress(
  unit: string,
  stream: NodeJS.WriteStream = process.stderr,
  now: Clock = () => performance.now(),
): Progress {
  if (quiet) return SILENT;
  const progress = (stream.isTTY ? progressBar : progressLines)(unit, stream, now);
  return { ...progress, [Symbol.dispose]: progress.stop };
}

function progressBar(unit: string, stream: NodeJS.WriteStream, now: Clock): Omit<Progress, symbol> {
  const started = now();
  const bar = new cliProgress.SingleBar({
    stream,
    format: `{bar} {percentage} %  {value} of {total} ${unit}  {eta_formatted} left  {note}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    clearOnComplete: true,
    hideCursor: true,
  });
  let visible = false;
  return {
    update(done, total, note = '') {
      if (!visible && (total > LONG_TOTAL || now() - started > LONG_MS)) {
        bar.start(total, 0, { note });
        visible = true;
      }
      if (visible) bar.update(done, { note });
    },
    stop() {
      if (visible) bar.stop();
      visible = false;
    },
  };
}

/** Writes lines at least LINE_MS milliseconds apart, such as "progress: 25 %, 50 of 200 episodes, about 30 s left". */
function progressLines(unit: string, stream: NodeJS.WriteStream, now: Clock): Omit<Progress, symbol> {
  const started = now();
  let written = started;
  return {
    update(done, total, note = '') {
      const time = now();
      if (time - written < LINE_MS) return;
      written = time;
      const counts = `${grouped(done)} of ${grouped(total)} ${unit}`;
      const left = done > 0 ? `, about ${duration(((time - started) / done) * (total - done))} left` : '';
      const percent = total > 0 ? Math.floor((100 * done) / total) : 0;
      stream.write(`progress: ${percent} %, ${counts}${left}${note === '' ? '' : `; ${note}`}\n`);
    },
    stop() {},
  };
}

/** Formats milliseconds: "50 s", "12 min", "3.5 h". */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
