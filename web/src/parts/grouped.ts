/**
 * Formats a whole number with commas: "100,000". `toLocaleString` would load the browser's tables of languages, which takes
 * as long as drawing the page.
 */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
