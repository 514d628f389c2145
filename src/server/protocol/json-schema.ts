/** Schemas as JSON Schema, for whoever reads descriptions. */
import { z } from 'zod';

/** As what is sent must follow it. */
export function jsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
