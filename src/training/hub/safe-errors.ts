/** Converts unexpected errors to errors without secrets. Drops their stack traces, which could quote a response. */
import { RhythmError } from '../../shared/errors.js';
import { HubError } from './hub-errors.js';
import { redacted, withoutSecrets } from './redact.js';
import { networkError } from './response-errors.js';

/** Runs `work`. @throws RhythmErrors of `work`, the signal's reason, and a HubError for every other error. */
export async function withSafeErrors<Result>(
  token: string | null,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    // The texts may quote a response of the Hub, or the name of a file.
    if (error instanceof HubError) {
      const safe = (text: string) => withoutSecrets(text, token);
      const { message, brief, hubCode } = error;
      throw new HubError(safe(message), { ...error, brief: safe(brief), hubCode: hubCode && safe(hubCode) });
    }
    if (error instanceof RhythmError) throw error;
    // A local file changed during the upload. `networkError` builds the error for this case too.
    if (error instanceof Error && error.name === 'NotReadableError')
      throw networkError(error, 'the upload', token);
    throw new HubError(
      `Expected an answer of the Hub, got an unreadable one: ${reasonOf(error, token)}. Check HF_ENDPOINT, and ` +
        'run the same command again.',
    );
  }
}

/** Returns the error's message. Replaces the message of a JSON parser: it quotes the answer, which may contain the token. */
function reasonOf(error: unknown, token: string | null): string {
  if (error instanceof SyntaxError) return 'invalid JSON';
  return redacted(error instanceof Error ? error.message : String(error), token);
}
