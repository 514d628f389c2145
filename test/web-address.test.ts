/** Addresses of the page: what a link says, what a bad one says, and the way back. */
import { describe, expect, it } from 'vitest';
import { type Field, initialState, oneOf, parseAddress, toAddress, whole } from '../web/src/address.js';

/** Letters with commas between them. */
const letters: Field<readonly string[]> = {
  initial: ['a', 'b'],
  expected: 'letters with commas between them',
  read: (text) => (/^[a-z](,[a-z])*$/.test(text) ? text.split(',') : null),
  write: (values) => values.join(','),
};

const FIELDS = {
  people: whole(1000, 1, 5000),
  policy: oneOf('random', ['random', 'random+constant']),
  letters,
};
const VIEWS = [
  { name: 'first', fields: FIELDS },
  { name: 'second', fields: { seed: whole(0, 0, 2 ** 32 - 1) } },
];
const INITIAL = { people: 1000, policy: 'random', letters: ['a', 'b'] };
const parse = (fragment: string) => parseAddress(fragment, VIEWS);

describe('an address', () => {
  it.each(['', '#', '#first', '#first?'])('%j is the first view as it begins', (fragment) => {
    expect(parse(fragment)).toEqual({ view: 'first', state: INITIAL, complaints: [] });
  });

  it('says what differs from that, and is read back', () => {
    const state = { people: 7, policy: 'random+constant' as const, letters: ['c', 'd', 'e'] };
    const address = toAddress('first', FIELDS, state);
    expect(address).toBe('#first?people=7&policy=random%2Bconstant&letters=c,d,e');
    expect(parse(address)).toEqual({ view: 'first', state, complaints: [] });
    expect(toAddress('first', FIELDS, initialState(FIELDS))).toBe('#first');
  });

  it('is of the view that it names', () => {
    expect(parse('#second?seed=4294967295').state).toEqual({ seed: 4294967295 });
  });

  it.each([
    ['#third?seed=1', 'This link asks for the view “third”. There are first, second; this is first.'],
    ['#first?seed=1', 'This link has “seed”, which this view does not know. It was left out.'],
    ['#first?__proto__=1', 'This link has “__proto__”, which this view does not know. It was left out.'],
    ['#first?policy=Random', 'where one of random, random+constant is expected. random is used instead.'],
  ])('%s is said to be bad, and shows what can be shown', (fragment, complaint) => {
    const { view, state, complaints } = parse(fragment);
    expect({ view, state }).toEqual({ view: 'first', state: INITIAL });
    expect(complaints).toEqual([expect.stringContaining(complaint)]);
  });

  it.each(['0', '5001', '-1', '1.5', '1e3', '0x10', ' 7', 'NaN', '', '99999999999999999999'])(
    'with %j people has the initial number',
    (text) => {
      const { state, complaints } = parse(`#first?people=${encodeURIComponent(text)}`);
      expect(state.people).toBe(1000);
      expect(complaints).toHaveLength(1);
      expect(complaints[0]).toContain('a whole number from 1 to 5,000');
    },
  );

  it('keeps what is good beside what is bad', () => {
    const { state, complaints } = parse('#first?people=12&policy=nobody&colour=red');
    expect(state).toEqual({ ...INITIAL, people: 12 });
    expect(complaints).toHaveLength(2);
  });

  it('is cut where it is foreign and long', () => {
    const [complaint] = parse(`#first?policy=${'x'.repeat(5000)}`).complaints;
    expect(complaint.length).toBeLessThan(200);
  });

  it('is not read out to its end where it has too much that is wrong', () => {
    const same = Array(2000).fill('colour=red').join('&');
    expect(parse(`#first?${same}`).complaints).toHaveLength(1);
    const different = Array.from({ length: 2000 }, (_, i) => `colour${i}=red`).join('&');
    const { complaints } = parse(`#first?${different}&people=12`);
    expect(complaints).toHaveLength(6);
    expect(complaints[5]).toBe('1,995 more were left out.');
    expect(parse(`#first?${different}&people=12`).state.people).toBe(12);
  });
});
