/** The messages of an episode for a language model, in the form in which the model was trained. */
import type { GraderLike } from '../../engine/graders/grader.js';
import { ACTION_NAMES, BELIEF_NAMES } from '../../world/fields.js';
import { reasoningIn } from '../trajectories/move.js';
import type { ChatForm } from '../trajectories/trajectory-episode.js';
import { parseText, type Triple } from './parse-completions.js';
import type { ChatMessage } from './prompt.js';
import { type AnswerForm, systemText, userText } from './prompt-text.js';
import { spell } from './spelling.js';
import TEXT from './text.json' with { type: 'json' };

/** An assistant's message with a call of the tool `act`. */
export interface CallMessage extends ChatMessage<'assistant'> {
  readonly tool_calls: readonly [ToolCall];
}
interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: 'act'; readonly arguments: Readonly<Record<string, string | number>> };
}
/** What a tool returned. */
export interface ToolMessage extends ChatMessage<'tool'> {
  readonly tool_call_id: string;
}
/** A message of a chat of any form. */
export type ChatTurn = ChatMessage<'system' | 'user' | 'assistant'> | CallMessage | ToolMessage;
/** The messages of a chat: the rules, the first state, and in some forms answers and further states. */
export type ChatTurns = readonly [system: ChatTurn, user: ChatTurn, ...more: ChatTurn[]];

const ACTIONS = ACTION_NAMES.map(spell);
const BELIEFS: Readonly<Record<string, string>> = TEXT.beliefs;
const digit = (description: string) => ({ type: 'integer', minimum: 0, maximum: 9, description });

/** The tool `act`, as chat completions name it. */
export const ACT_TOOL = {
  type: 'function',
  function: {
    name: 'act',
    description: TEXT.tools.act,
    parameters: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: ACTIONS },
        ...Object.fromEntries(BELIEF_NAMES.map((name) => [name, digit(BELIEFS[name])])),
      },
      required: ['action', ...BELIEF_NAMES],
      additionalProperties: false,
    },
  },
} as const;

/** One episode as one chat. In the form 'single' each step is a chat of its own: a prompt. */
export class Chat {
  readonly #answers: AnswerForm;
  readonly #turns: ChatTurn[];

  constructor(form: Exclude<ChatForm, 'single'>, grader: GraderLike) {
    this.#answers = form === 'tools' ? 'tools' : 'line';
    this.#turns = [{ role: 'system', content: systemText(grader, this.#answers) }];
  }

  /** Adds the state before a step. @param row f32 [22], a raw observation. @returns the messages to answer. */
  ask(row: Float32Array): ChatTurns {
    const content = userText(row, 0, 'new', this.#answers);
    const last = this.#turns.at(-1)!;
    if ('tool_calls' in last) {
      this.#turns.push({ role: 'tool', tool_call_id: last.tool_calls[0].id, content });
    } else {
      this.#turns.push({ role: 'user', content });
    }
    return this.#turns as unknown as ChatTurns;
  }

  /** Adds the model's answer. @param completion in the form of a line, as `lineOfCall` returns it. */
  answer(completion: string): void {
    this.#turns.push(this.#turnOf(completion));
  }

  #turnOf(completion: string): ChatTurn {
    const plain = { role: 'assistant', content: completion } as const;
    if (this.#answers === 'line') return plain;
    const { actionName, digits } = parseText(completion, false);
    if (actionName === null || digits === null) return plain;
    const call = { name: 'act', arguments: argumentsOf(actionName, digits) } as const;
    const id = `call_${this.#turns.length}`;
    return {
      role: 'assistant',
      content: reasoningIn(completion) ?? '',
      tool_calls: [{ id, type: 'function', function: call }],
    };
  }
}

const argumentsOf = (action: string, digits: Triple): Readonly<Record<string, string | number>> => ({
  action: spell(action),
  ...Object.fromEntries(BELIEF_NAMES.map((name, k) => [name, digits[k]])),
});

/**
 * Returns the line that the arguments of a call stand for, such as "4 6 5 SLEEP"; null for other values.
 * @param value the arguments, or an object that has them beside the tool's name, as models write it.
 */
export function lineOfCall(value: unknown): string | null {
  const outer = fieldsOf(value);
  const given = typeof outer.action === 'string' ? outer : fieldsOf(outer.arguments ?? outer.parameters);
  if (typeof given.action !== 'string') return null;
  const digits = BELIEF_NAMES.map((name) => given[name]).filter(isDigit);
  const belief = digits.length === BELIEF_NAMES.length ? `${digits.join(' ')} ` : '';
  return `${belief}${given.action}`;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => Object(value);
const isDigit = (value: unknown): boolean =>
  ['number', 'string'].includes(typeof value) && /^[0-9]$/.test(`${value}`);

/** Returns the line that the JSON in an answer stands for; null without such JSON. */
export function lineInJson(answer: string): string | null {
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  if (from < 0 || to < from) return null;
  try {
    return lineOfCall(JSON.parse(answer.slice(from, to + 1)));
  } catch {
    return null;
  }
}
