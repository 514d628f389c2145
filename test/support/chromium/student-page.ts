/** The script of a page in which students play. */
import { playStudent } from '../student-episodes.js';

const page = { playStudent };

/** The functions that a test can call in the page. */
export type StudentPage = typeof page;

Object.assign(globalThis, { page });
