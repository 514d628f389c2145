/** Addresses of the page: what a link says, what a bad one says, and the way back. */
import { describe, expect, it } from 'vitest';
import { initialState, numbers, oneOf, parseAddress, toAddress, whole } from '../web/src/address.js';

const FIELDS = {
  people: whole(1000, 1, 5000),
  policy: oneOf('random', ['random', 'random+constant']),
  weights: numbers([0.5, 0.5], 0, 1),
};
const VIEWS = [
  { name: 'first', fields: FIELDS },
  { name: 'second', fields: { seed: whole(0, 0, 2 ** 32 - 1) } },
];
const INITIAL = { people: 1000, policy: 'random', weights: [0.5, 0.5] };
const parse = (fragment: string) => parseAddress(fragment, VIEWS);

describe('an address', () => {
  it.each(['', '#', '#first', '#first?'])('%j is the first view as it begins', (fragment) => {
    expect(parse(fragment)).toEqual({ view: 'first', state: INITIAL, complaints: [] });
  });

  it('says what differs from that, and is read back', () => {
    const state = { people: 7, policy: 'random+constant' as const, weights: [0, 0.25] };
    const address = toAddress('first', FIELDS, state);
    expect(address).toBe('#first?people=7&policy=random%2Bconstant&weights=0,0.25');
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

  it.each(['1', '0,0,0', '0,', ',', '0,2', '0,x', '-0.1,0', '0,Infinity'])(
    'with weights %j has the initial ones',
    (text) => {
      const { state, complaints } = parse(`#first?weights=${text}`);
      expect(state.weights).toEqual([0.5, 0.5]);
      expect(complaints).toHaveLength(1);
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
});
