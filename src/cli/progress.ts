/** Shows a progress bar for long work, on a terminal only. */
import cliProgress from 'cli-progress';

/** The bar appears if the total exceeds LONG_TOTAL, or after LONG_MS milliseconds. */
const LONG_TOTAL = 1e6;
const LONG_MS = 1000;

export interface Progress {
  /** Updates the bar. @param note further text, such as the amount spent. */
  update(done: number, total: number, note?: string): void;
  /** Removes the bar. */
  stop(): void;
}

const SILENT: Progress = { update() {}, stop() {} };

/**
 * Returns a progress bar.
 * @param unit the noun of the counts.
 * @param stream receives the bar if it is a terminal.
 * @param now a clock in milliseconds.
 */
export function createProgress(
  unit: string,
  stream: NodeJS.WriteStream = process.stderr,
  now = () => performance.now(),
): Progress {
  if (!stream.isTTY) return SILENT;
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
    },
  };
}
