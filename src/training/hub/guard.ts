/** Wraps unexpected errors of the Hub without secrets: no stack trace, which could quote an answer. */
import { RhythmError } from '../../shared/errors.js';
import { HubError } from './hub-errors.js';
import { redacted, withoutSecrets } from './redact.js';
import { faultOf } from './refusals.js';

/** Does some work. @throws what is foreseen, the signal's reason, and all else as a HubError. */
export async function guarded<Result>(
  token: string | null,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    // Whatever part of an answer has got into it.
    if (error instanceof HubError) throw new HubError(withoutSecrets(error.message, token), error);
    if (error instanceof RhythmError) throw error;
    if (error instanceof Error && error.name === 'NotReadableError')
      throw faultOf(error, 'the upload', token);
    throw new HubError(
      `Expected answers such as the Hub gives, got what cannot be read: ${reasonOf(error, token)}. Check HF_ENDPOINT, and ` +
        'run the same command again.',
    );
  }
}

/** Of JSON that is none, only that: what parses it quotes its beginning, which may be that of the token. */
function reasonOf(error: unknown, token: string | null): string {
  if (error instanceof SyntaxError) return 'text that is no JSON';
  return redacted(error instanceof Error ? error.message : String(error), token);
}
