/** The entries of a long list, in few bytes each. */
import { BYTE } from '../protocol/bounds.js';

type Entry = number | boolean | null | string;
type FloatsKind = Float32ArrayConstructor | Float64ArrayConstructor;
type Kinds = Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor | FloatsKind;
type Numbers = InstanceType<Kinds>;
type Codes = Uint8Array | Uint16Array;
/** Numbers, or entries as `JSON.parse` returns them. */
export type Entries = Numbers | readonly Entry[];

/** The bytes of JSON that are added at a time, up to the next comma. */
export const SLICE = 2 ** 12;

/** The most different entries of a table. */
const MOST_DISTINCT = 4096;
/** The most different strings. More are not names, and only names are used. */
const MOST_STRINGS = 64;
/** Stands for each string after them. */
const OTHER = '(another string)';
/** The key of -0, which a Map takes for 0. */
const MINUS_ZERO = Symbol('-0');

/** Entries that are not numbers; numbers that may not be u32. */
const OTHERS = /[tfn"]/;
const LARGE = /[-.eE]|\d{10}/;
/** Valid strings, where no string has an escape. */
const STRINGS = /"[ !#-[\]-\uffff]*"/g;

const ZERO = 0x30;
const MOST_DIGITS = 9;
/** The whole numbers of a slice. The shortest have one digit and a comma. */
const whole = new Uint32Array(SLICE / 2 + 2);

/** A list of known length, to which slices of JSON are added in order. */
export class EntryList {
  readonly length: number;
  readonly #Floats: FloatsKind;
  #count = 0;
  #strings = 0;
  /** The entries as long as all are numbers, then null. */
  #numbers: Numbers | null;
  /** The different entries, after `OTHER`; and the place of each entry of the list among them. */
  readonly #table: Entry[] = [OTHER];
  readonly #places = new Map<Entry | symbol, number>();
  #codes: Codes | null = null;
  /** The entries if more than `MOST_DISTINCT` are different, else null. */
  #list: Entry[] | null = null;

  /** @param Floats the array of numbers that may not be u32. */
  constructor(length: number, Floats: FloatsKind) {
    this.length = length;
    this.#Floats = Floats;
    this.#numbers = new Uint8Array(length);
  }

  /** Adds the entries between two commas. @returns false if they are invalid; nothing is then added. */
  add(json: Buffer, from: number, to: number): boolean {
    const count = this.#numbers === null ? 0 : readWhole(json, from, to);
    if (count > 0) {
      this.#addNumbers(whole, count, kindFor(whole, count));
      return true;
    }
    let text = json.toString('utf8', from, to);
    // `JSON.parse` would keep all short strings in a table of its own.
    if (this.#strings > MOST_STRINGS && !text.includes('\\')) text = text.replace(STRINGS, '""');
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

  /** Returns the entries: an array of numbers, or a list of eight bytes for each entry. */
  toEntries(): Entries {
    return this.#numbers ?? this.#list ?? this.#decoded(this.#codes!);
  }

  /** Returns 1 for true and 0 for false in a list of only these, else the entries. */
  toFlags(): Entries {
    const codes = this.#codes;
    const areFlags = this.#table.every((entry, place) => place === 0 || typeof entry === 'boolean');
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
    const place = this.#placeOf(entry);
    if (place === null && this.#codes !== null) this.#toList(this.#codes);
    if (this.#list !== null) this.#list[this.#count] = place === null ? entry : this.#table[place];
    else this.#codesFor(place!)[this.#count] = place!;
    this.#count++;
  }

  #codesFor(place: number): Codes {
    if (place === 2 ** 8 && this.#codes instanceof Uint8Array) this.#codes = new Uint16Array(this.#codes);
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

  /** Returns null for an entry that has no place: the table is full. */
  #placeOf(entry: Entry): number | null {
    const key = Object.is(entry, -0) ? MINUS_ZERO : entry;
    if (typeof entry === 'string' && this.#strings > MOST_STRINGS) return 0;
    const place = this.#places.get(key);
    if (place !== undefined) return place;
    if (typeof entry === 'string' && ++this.#strings > MOST_STRINGS) return 0;
    if (this.#places.size === MOST_DISTINCT) return null;
    this.#places.set(key, this.#table.length);
    return this.#table.push(entry) - 1;
  }
}

function kindFor(numbers: ArrayLike<number>, count: number): Kinds {
  let most = 0;
  for (let k = 0; k < count; k++) most = Math.max(most, numbers[k]);
  return most < 2 ** 8 ? Uint8Array : most < 2 ** 16 ? Uint16Array : Uint32Array;
}

/** Reads numbers of at most nine digits, without white space, into `whole`. @returns their number; 0 for anything else. */
function readWhole(json: Buffer, from: number, to: number): number {
  let count = 0;
  let value = 0;
  let digits = 0;
  for (let at = from; at <= to; at++) {
    const byte = at === to ? BYTE.comma : json[at];
    if (byte === BYTE.comma) {
      if (digits === 0) return 0;
      whole[count++] = value;
      value = digits = 0;
    } else {
      const digit = byte - ZERO;
      const isZeroLed = value === 0 && digits > 0;
      if (digit < 0 || digit > 9 || isZeroLed || digits === MOST_DIGITS) return 0;
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
