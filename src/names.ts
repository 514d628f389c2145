/** Names are snake_case in files and on wires, camelCase in code. */

export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
