/** Converts schemas to JSON Schema. */
import { z } from 'zod';

/** Returns the JSON Schema of what a schema accepts, before its defaults and conversions. */
export function jsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
