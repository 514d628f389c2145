/** Stores the entries of a long list in a few bytes each. */
import { BYTE } from '../protocol/bounds.js';

type Entry = number | boolean | null | string;
type FloatsKind = Float32ArrayConstructor | Float64ArrayConstructor;
type Kinds = Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor | FloatsKind;
type Numbers = InstanceType<Kinds>;
type Codes = Uint8Array | Uint16Array;
/** Numbers, or entries as `JSON.parse` returns them. */
export type Entries = Numbers | readonly Entry[];

/** The number of bytes of JSON that are added at a time. A slice continues up to the next comma. */
export const SLICE = 2 ** 12;

/** The maximum number of different entries in a table. */
const MAX_DISTINCT = 4096;
/** The maximum number of different strings. Only names are used, and there are fewer names. */
const MAX_STRINGS = 64;
/** Replaces each further string. */
const OTHER = '(another string)';
/** The key of -0, because a Map treats -0 and 0 as one key. */
const MINUS_ZERO = Symbol('-0');

/** Patterns of entries that are not numbers, and of numbers that may not be u32. */
const OTHERS = /[tfn"]/;
const LARGE = /[-.eE]|\d{10}/;
/** The pattern of strings in a text without escapes. */
const STRINGS = /"[ !#-[\]-\uffff]*"/g;

const ZERO = 0x30;
const MAX_DIGITS = 9;
/** Buffer for the whole numbers of a slice. The shortest have one digit and a comma. */
const wholeNumbers = new Uint32Array(SLICE / 2 + 2);

/** A list of known length, to which slices of JSON are added in order. */
export class EntryList {
  readonly length: number;
  readonly #Floats: FloatsKind;
  #count = 0;
  #strings = 0;
  /** The entries while all are numbers, else null. */
  #numbers: Numbers | null;
  /** The different entries, after `OTHER`. Their indices in the table; and for each entry of the list, its index. */
  readonly #table: Entry[] = [OTHER];
  readonly #indices = new Map<Entry | symbol, number>();
  #codes: Codes | null = null;
  /** The entries if more than `MAX_DISTINCT` are different, else null. */
  #list: Entry[] | null = null;

  /** @param Floats the array type for numbers that may not be u32. */
  constructor(length: number, Floats: FloatsKind) {
    this.length = length;
    this.#Floats = Floats;
    this.#numbers = new Uint8Array(length);
  }

  /** Adds the entries of a slice. @returns false if the slice is invalid; nothing is then added. */
  add(json: Buffer, from: number, to: number): boolean {
    const count = this.#numbers === null ? 0 : readWhole(json, from, to);
    if (count > 0) {
      this.#addNumbers(wholeNumbers, count, kindFor(wholeNumbers, count));
      return true;
    }
    let text = json.toString('utf8', from, to);
    // Empties the strings, because `JSON.parse` keeps short strings in memory.
    if (this.#strings > MAX_STRINGS && !text.includes('\\')) text = text.replace(STRINGS, '""');
    const entries = parseEntries(text);
    if (entries === null) return false;
    if (this.#numbers !== null && !OTHERS.test(text)) {
      const numbers = entries as number[];
      const Kind = LARGE.test(text) ? this.#Floats : kindFor(numbers, numbers.length);
      this.#addNumbers(numbers, numbers.length, Kind);
    } else {
      if (this.#numbers !== null) this.#toTable(this.#numbers);
      for (const entry of entries) this.#add(entry);
    }
    return true;
  }

  /** Returns the entries: a typed array if all are numbers, else a list. */
  toEntries(): Entries {
    return this.#numbers ?? this.#list ?? this.#decoded(this.#codes!);
  }

  /** Returns u8 flags (1 for true, 0 for false) if all entries are true or false, else the entries. */
  toFlags(): Entries {
    const codes = this.#codes;
    const areFlags = this.#table.every((entry, index) => index === 0 || typeof entry === 'boolean');
    if (codes === null || !areFlags) return this.toEntries();
    const flags = new Uint8Array(codes.length);
    for (let k = 0; k < codes.length; k++) flags[k] = Number(this.#table[codes[k]]);
    return flags;
  }

  /** Returns whether every entry is a string. */
  areStrings(): boolean {
    return this.#codes !== null && this.#table.every((entry) => typeof entry === 'string');
  }

  #addNumbers(numbers: ArrayLike<number>, count: number, Kind: Kinds): void {
    let array = this.#numbers!;
    const isWider = Kind === this.#Floats || Kind.BYTES_PER_ELEMENT > array.BYTES_PER_ELEMENT;
    if (isWider && !(array instanceof this.#Floats)) array = this.#numbers = new Kind(array);
    for (let k = 0; k < count; k++) array[this.#count + k] = numbers[k];
    this.#count += count;
  }

  #toTable(numbers: Numbers): void {
    const count = this.#count;
    this.#numbers = null;
    this.#codes = new Uint8Array(this.length);
    this.#count = 0;
    for (let k = 0; k < count; k++) this.#add(numbers[k]);
  }

  #add(entry: Entry): void {
    const index = this.#indexOf(entry);
    if (index === null && this.#codes !== null) this.#toList(this.#codes);
    if (this.#list !== null) this.#list[this.#count] = index === null ? entry : this.#table[index];
    else this.#codesFor(index!)[this.#count] = index!;
    this.#count++;
  }

  #codesFor(index: number): Codes {
    if (index === 2 ** 8 && this.#codes instanceof Uint8Array) this.#codes = new Uint16Array(this.#codes);
    return this.#codes!;
  }

  #toList(codes: Codes): void {
    this.#list = this.#decoded(codes);
    this.#codes = null;
  }

  #decoded(codes: Codes): Entry[] {
    // Not Array.from, which takes several times the memory.
    const list: Entry[] = new Array(codes.length);
    for (let k = 0; k < codes.length; k++) list[k] = this.#table[codes[k]];
    return list;
  }

  /** Returns the index of an entry in the table, and adds new entries. Returns null if the table is full. */
  #indexOf(entry: Entry): number | null {
    const key = Object.is(entry, -0) ? MINUS_ZERO : entry;
    if (typeof entry === 'string' && this.#strings > MAX_STRINGS) return 0;
    const index = this.#indices.get(key);
    if (index !== undefined) return index;
    if (typeof entry === 'string' && ++this.#strings > MAX_STRINGS) return 0;
    if (this.#indices.size === MAX_DISTINCT) return null;
    this.#indices.set(key, this.#table.length);
    return this.#table.push(entry) - 1;
  }
}

function kindFor(numbers: ArrayLike<number>, count: number): Kinds {
  let max = 0;
  for (let k = 0; k < count; k++) max = Math.max(max, numbers[k]);
  return max < 2 ** 8 ? Uint8Array : max < 2 ** 16 ? Uint16Array : Uint32Array;
}

/**
 * Reads whole numbers of at most nine digits, without white space, into `wholeNumbers`. @returns their count; 0 if the
 * slice has anything else.
 */
function readWhole(json: Buffer, from: number, to: number): number {
  let count = 0;
  let value = 0;
  let digits = 0;
  for (let at = from; at <= to; at++) {
    const byte = at === to ? BYTE.comma : json[at];
    if (byte === BYTE.comma) {
      if (digits === 0) return 0;
      wholeNumbers[count++] = value;
      value = digits = 0;
    } else {
      const digit = byte - ZERO;
      const isZeroLed = value === 0 && digits > 0;
      if (digit < 0 || digit > 9 || isZeroLed || digits === MAX_DIGITS) return 0;
      value = 10 * value + digit;
      digits++;
    }
  }
  return count;
}

function parseEntries(text: string): Entry[] | null {
  try {
    const entries: Entry[] = JSON.parse(`[${text}]`);
    return entries.length === 0 ? null : entries;
  } catch {
    return null;
  }
}
