/** Joins the chunks of a streamed chat completion into the body that would have come at once. */
import { BoundsError } from '../../shared/http/bounded-fetch.js';

/** Above this time limit answers are streamed: Node's fetch waits 300 s for the first byte, and 300 s for each further one. */
export const STREAM_ABOVE_MS = 300_000;

type Json = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The texts of a message that chunks bring in pieces. */
const TEXTS = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

/**
 * Returns a body for `readReply`; null if the stream was cut off. Chunks of other choices than the first are ignored, and a chunk
 * with a message is the whole body.
 * @param maxLength the maximum length of the texts, in characters. @throws BoundsError beyond it; the errors of the stream.
 */
export async function bodyOf(chunks: AsyncIterable<unknown>, maxLength: number): Promise<unknown> {
  const message: Record<string, string> = {};
  const calls: string[] = [];
  let [usage, finish_reason, length]: [unknown, unknown, number] = [null, null, 0];
  const add = (text: unknown): string => {
    const piece = typeof text === 'string' ? text : '';
    length += piece.length;
    if (length > maxLength) throw new BoundsError(`more than ${maxLength} characters of an answer`);
    return piece;
  };
  for await (const chunk of chunks) {
    const { choices, usage: counted } = objectOf(chunk);
    usage = counted ?? usage;
    const choice = objectOf(listOf(choices)[0]);
    if (choice.delta === undefined && choice.message !== undefined) {
      add(JSON.stringify(choice.message));
      return chunk;
    }
    const delta = objectOf(choice.delta);
    finish_reason = choice.finish_reason ?? finish_reason;
    for (const name of TEXTS) {
      if (typeof delta[name] === 'string') message[name] = (message[name] ?? '') + add(delta[name]);
    }
    for (const call of listOf(delta.tool_calls).map(objectOf)) {
      const index = Number(call.index ?? 0);
      if (index === 0) calls[0] = (calls[0] ?? '') + add(objectOf(call.function).arguments);
    }
  }
  const tool_calls = calls.length === 0 ? null : calls.map((text) => ({ function: { arguments: text } }));
  const isEmpty = Object.keys(message).length === 0 && tool_calls === null;
  // A stream without a choice is no completion, and one without its end was cut off.
  if (finish_reason === null && (isEmpty || usage === null)) return null;
  return { choices: [{ finish_reason, message: { ...message, tool_calls } }], usage };
}
