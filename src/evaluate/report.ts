/** An evaluation as the object that its JSON file holds. */
import { snakeCase } from '../names.js';
import { SCHEMAS } from '../schemas.js';
import type { Evaluation } from './evaluate.js';

/** The same value with snake_case names, as files and wires have them. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [snakeCase(name), toSnakeCase(of)]));
}

/** Schema, version, world digest, seeds, backend and machine travel with the numbers. */
export function evaluationToJson({ backendReason: _, ...evaluation }: Evaluation): unknown {
  return toSnakeCase({ schema: SCHEMAS.evaluation, ...evaluation });
}
