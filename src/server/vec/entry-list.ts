/** Stores the entries of a long list in a few bytes each. */
import { countStrings, readWholeNumbers } from './slice-bytes.js';

type Entry = number | boolean | null | string;
type FloatsKind = Float32ArrayConstructor | Float64ArrayConstructor;
type Kinds = Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor | FloatsKind;
type Numbers = InstanceType<Kinds>;
type Codes = Uint8Array | Uint16Array;
/** Numbers, or entries as `JSON.parse` returns them. */
export type Entries = Numbers | readonly Entry[];

/**
 * The number of bytes of JSON that are added at a time. A slice continues up to the next comma. Chosen by hand: larger slices
 * take more memory while they are parsed.
 */
export const SLICE = 2 ** 12;

/** The maximum number of different entries in a table. Chosen by hand: a larger table takes more memory. */
const MAX_DISTINCT = 4096;
/** The maximum number of different strings. Valid strings are names, and there are fewer names. */
const MAX_STRINGS = 64;
/**
 * A list keeps at most MAX_STRINGS different strings. From the next different string on, every string becomes this one, even a
 * kept one.
 */
const SURPLUS_STRING = '(another string)';
/** The key of -0, because a Map treats -0 and 0 as one key. */
const MINUS_ZERO = Symbol('-0');

/** Matches a text with entries that are not numbers. */
const NON_NUMBERS = /[tfn"]/;
/** Matches a text with numbers that need not be u32. */
const MAYBE_NOT_U32 = /[-.eE]|\d{10}/;
/** Matches the strings of a text without escapes. */
const STRINGS = /"[ !#-[\]-\uffff]*"/g;

/**
 * Buffer for the whole numbers of a slice. The shortest takes two bytes, a digit and a comma. One more may begin at byte SLICE;
 * the last entry is spare.
 */
const wholeNumbers = new Uint32Array(SLICE / 2 + 2);

/** A list of known length, to which slices of JSON are added in order. */
export class EntryList {
  readonly length: number;
  readonly #Floats: FloatsKind;
  #count = 0;
  /** The number of different strings so far; at most MAX_STRINGS + 1, which means more than MAX_STRINGS. */
  #strings = 0;
  /** The entries while all are numbers, else null. */
  #numbers: Numbers | null;
  /** `SURPLUS_STRING`, and the different entries of the list. */
  readonly #table: Entry[] = [SURPLUS_STRING];
  /** The index of each entry in the table. */
  readonly #indices = new Map<Entry | symbol, number>();
  /** For each entry of the list, its index in the table; null while `#numbers` or `#list` has the entries. */
  #codes: Codes | null = null;
  /** The entries if more than `MAX_DISTINCT` are different, else null. */
  #list: Entry[] | null = null;

  /** @param Floats the array type for numbers that need not be u32. */
  constructor(length: number, Floats: FloatsKind) {
    this.length = length;
    this.#Floats = Floats;
    this.#numbers = new Uint8Array(length);
  }

  /** Adds the entries of a slice. @returns false if the slice is invalid; nothing is then added. */
  add(json: Buffer, from: number, to: number): boolean {
    if (this.#numbers !== null) {
      const count = readWholeNumbers(json, from, to, wholeNumbers);
      if (count > 0) this.#addNumbers(wholeNumbers, count, kindFor(wholeNumbers, count));
      return count > 0 || this.#parse(json, from, to);
    }
    // Once there are more than MAX_STRINGS different strings, a slice of strings is not parsed: each becomes entry 0 of the
    // table.
    const strings = this.#strings > MAX_STRINGS ? countStrings(json, from, to) : 0;
    for (let k = 0; k < strings; k++) this.#addAt(0);
    return strings > 0 || this.#parse(json, from, to);
  }

  #parse(json: Buffer, from: number, to: number): boolean {
    let text = json.toString('utf8', from, to);
    // Empties the strings: `#indexOf` no longer reads them, and `JSON.parse` would keep short ones in memory.
    if (this.#strings > MAX_STRINGS && !text.includes('\\')) text = text.replace(STRINGS, '""');
    const entries = parseEntries(text);
    if (entries === null) return false;
    if (this.#numbers !== null && !NON_NUMBERS.test(text)) {
      const numbers = entries as number[];
      const Kind = MAYBE_NOT_U32.test(text) ? this.#Floats : kindFor(numbers, numbers.length);
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
    if (index !== null) this.#addAt(index);
    else this.#list![this.#count++] = entry;
  }

  /** Adds the entry at an index of the table. */
  #addAt(index: number): void {
    if (this.#list !== null) this.#list[this.#count] = this.#table[index];
    else this.#codesFor(index)[this.#count] = index;
    this.#count++;
  }

  /** Returns the codes, in an array type that can hold the index. */
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

/** Returns the smallest array type that can hold the first `count` numbers, which are u32. */
function kindFor(numbers: ArrayLike<number>, count: number): Kinds {
  let max = 0;
  for (let k = 0; k < count; k++) max = Math.max(max, numbers[k]);
  return max < 2 ** 8 ? Uint8Array : max < 2 ** 16 ? Uint16Array : Uint32Array;
}

/** Parses the inside of a list's brackets. @returns null for invalid JSON and for no entries. */
function parseEntries(text: string): Entry[] | null {
  try {
    const entries: Entry[] = JSON.parse(`[${text}]`);
    return entries.length === 0 ? null : entries;
  } catch {
    return null;
  }
}
