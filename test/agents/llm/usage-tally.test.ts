/** The usage of an endpoint in a run. */
import { expect, it } from 'vitest';
import { UsageTally } from '../../../src/agents/llm/usage-tally.js';

it('a tally sums the usage of answers, with and without token counts, and counts unanswered requests', () => {
  const tally = new UsageTally();
  tally.requests = 7;
  tally.addAnswer({ requests: 2, prompt_tokens: 100, completion_tokens: 30, cut_off: 1, refused: 0 });
  tally.addAnswer({ requests: 3, prompt_tokens: 1000, completion_tokens: 5, cut_off: 0, refused: 1 });
  tally.addAnswer({ requests: 1 });
  // Seven requests for three answers: four unanswered.
  expect({ ...tally, unanswered: tally.unanswered }).toEqual({
    requests: 7,
    answers: 3,
    promptTokens: 1100,
    completionTokens: 35,
    cutOff: 1,
    refused: 1,
    unanswered: 4,
  });
});
