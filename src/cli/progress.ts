/** A progress bar for long work, on a terminal only. */
import cliProgress from 'cli-progress';

/** Work of more steps than this, or longer than this, is worth a bar. */
const MANY = 1e6;
const LONG_MS = 1000;

export interface Progress {
  /** @param note what else there is to say, such as what was spent. */
  update(done: number, total: number, note?: string): void;
  /** Removes the bar. */
  stop(): void;
}

const SILENT: Progress = { update() {}, stop() {} };

/** @param stream where the bar goes; if it is no terminal, nothing does. @param now a clock in milliseconds. */
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
  let shown = false;
  return {
    update(done, total, note = '') {
      if (!shown && (total > MANY || now() - started > LONG_MS)) {
        bar.start(total, 0, { note });
        shown = true;
      }
      if (shown) bar.update(done, { note });
    },
    stop() {
      if (shown) bar.stop();
    },
  };
}
