/** Tests addresses of the page: valid and invalid links, and addresses of states. */
import { describe, expect, it } from 'vitest';
import { type Field, oneOf, parseAddress, startState, toAddress, whole } from '../../web/src/address.js';

/** A field for letters with commas between them. */
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
  it.each(['', '#', '#first', '#first?'])('%j is the initial state of the first view', (fragment) => {
    expect(parse(fragment)).toEqual({ view: 'first', state: INITIAL, problems: [] });
  });

  it('contains the differences from the initial state, and is parsed back', () => {
    const state = { people: 7, policy: 'random+constant' as const, letters: ['c', 'd', 'e'] };
    const address = toAddress('first', FIELDS, state);
    expect(address).toBe('#first?people=7&policy=random%2Bconstant&letters=c,d,e');
    expect(parse(address)).toEqual({ view: 'first', state, problems: [] });
    expect(toAddress('first', FIELDS, startState(FIELDS))).toBe('#first');
  });

  it('without fields begins with the start values, and keeps the initial values of links with fields', () => {
    const fields = { seed: { ...whole(1, 0, 9), start: 5 }, policy: FIELDS.policy };
    const stateOf = (fragment: string) => parseAddress(fragment, [{ name: 'first', fields }]).state;
    expect(stateOf('')).toEqual({ seed: 5, policy: 'random' });
    expect(stateOf('#first?policy=random%2Bconstant')).toEqual({ seed: 1, policy: 'random+constant' });
    for (const seed of [1, 5, 7])
      for (const policy of ['random', 'random+constant'] as const)
        expect(stateOf(toAddress('first', fields, { seed, policy }))).toEqual({ seed, policy });
    expect(toAddress('first', fields, startState(fields))).toBe('#first');
    expect(toAddress('first', fields, { seed: 1, policy: 'random' })).toBe('#first?seed=1');
  });

  it('selects the view that it names', () => {
    expect(parse('#second?seed=4294967295').state).toEqual({ seed: 4294967295 });
  });

  it.each([
    ['#third?seed=1', 'the view “third”, which does not exist. The views are first, second; first is shown.'],
    ['#first?seed=1', 'This link has “seed”, which is no setting of this view. It is ignored.'],
    ['#first?__proto__=1', 'This link has “__proto__”, which is no setting of this view. It is ignored.'],
    ['#first?policy=Random', 'where one of random, random+constant is expected. random is used instead.'],
  ])('%s is reported as a problem, and gives the initial state', (fragment, problem) => {
    const { view, state, problems } = parse(fragment);
    expect({ view, state }).toEqual({ view: 'first', state: INITIAL });
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it.each(['0', '5001', '-1', '1.5', '1e3', '0x10', ' 7', 'NaN', '', '99999999999999999999'])(
    'with %j people gives the initial number of people',
    (text) => {
      const { state, problems } = parse(`#first?people=${encodeURIComponent(text)}`);
      expect(state.people).toBe(1000);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('a whole number from 1 to 5,000');
    },
  );

  it('keeps valid fields beside invalid fields', () => {
    const { state, problems } = parse('#first?people=12&policy=unknown&colour=red');
    expect(state).toEqual({ ...INITIAL, people: 12 });
    expect(problems).toHaveLength(2);
  });

  it('shortens long texts in problems', () => {
    const [problem] = parse(`#first?policy=${'x'.repeat(5000)}`).problems;
    expect(problem.length).toBeLessThan(200);
  });

  it('reports at most five problems, and the number of further problems', () => {
    const same = Array(2000).fill('colour=red').join('&');
    expect(parse(`#first?${same}`).problems).toHaveLength(1);
    const different = Array.from({ length: 2000 }, (_, i) => `colour${i}=red`).join('&');
    const { problems } = parse(`#first?${different}&people=12`);
    expect(problems).toHaveLength(6);
    expect(problems[5]).toBe('1,995 further problems are not listed.');
    const six = different.split('&').slice(0, 6).join('&');
    expect(parse(`#first?${six}`).problems[5]).toBe('1 further problem is not listed.');
    expect(parse(`#first?${different}&people=12`).state.people).toBe(12);
  });
});
