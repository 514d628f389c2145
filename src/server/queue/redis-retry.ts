/**
 * Repeats commands that fail temporarily, for example because the disk or memory of Redis is full, Redis loads its file, or
 * the connection was lost.
 */
import { CLOCK } from '../../shared/http/clock.js';
import { backOff, retry } from '../../shared/http/retry-loop.js';

/** The beginnings of the messages of temporary errors: of Redis, and of ioredis for lost connections. */
const TEMPORARY =
  /^(MISCONF|OOM|LOADING|READONLY|TRYAGAIN|MASTERDOWN|BUSY|Connection is closed|Stream isn't writeable|ERR Error writing)/;
/** The prefix that Redis 6 puts before the error of a command in a script. */
const OF_SCRIPT = /^ERR Error running script .*?: -/;
/** The system's codes for a lost or refused connection. */
const CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * Milliseconds between attempts. The waits are short, so that paid episodes are stored before another worker takes their shard
 * over.
 */
const WAITS = { first: 50, last: 250 };

/** Returns whether an error of Redis is temporary. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof Error &&
  (TEMPORARY.test(error.message.replace(OF_SCRIPT, '')) ||
    CODES.includes(String((error as NodeJS.ErrnoException).code)));

/**
 * Repeats a command until Redis accepts it.
 * @param signal stops the repetition. Default: it never stops. @param onWait called with the error before each wait.
 * @throws errors that are not temporary; the signal's reason.
 */
export const untilAccepted = <Answer>(
  command: () => Promise<Answer>,
  signal: AbortSignal = new AbortController().signal,
  onWait: (error: Error) => void = () => {},
): Promise<Answer> =>
  retry(command, {
    retries: Number.POSITIVE_INFINITY,
    signal,
    clock: CLOCK,
    waitAfter: ({ error, attempt }) => {
      if (!isTemporary(error)) return null;
      onWait(error);
      return backOff(WAITS, attempt);
    },
  });
