/**
 * Lua scripts of the ledger that all workers of a language model's job share. The ledger is a hash. Amounts are whole
 * nanodollars, which numbers of Lua represent exactly. Each attempt at a shard has a name of its own. Fields:
 *   budget: -1 for no limit; spent; reserved, pending: the maximum cost of pending requests, and their number;
 *   attempt:A: "LOCK TOKEN", the key and the value of the lock of attempt A;
 *   held:A:N: the maximum cost of pending request N of attempt A; play:A:K: what its unfinished episode K has cost;
 *   rate, window: at most `rate` requests are allowed in any `window` milliseconds; rate 0 allows all;
 *   episodes, cost: the number of finished episodes, and what they have cost;
 *   largest: the largest of the maximum request costs that BEGIN_EPISODE was given;
 *   refusal, needed: what did not fit into the budget ('the next request' or 'the next episode'), and what it needs.
 * The sorted set `places` has the requests that take a place within the rate limit, each with the time in milliseconds after
 * which it takes none.
 * A client whose connection was lost before a reply sends the script again. Therefore a script that runs twice has the effect
 * of one run.
 */
import { NOW } from './scripts.js';

/**
 * The milliseconds before a worker asks again: while pending requests or unfinished episodes may turn out cheaper, or after
 * the job has ended. Chosen by hand: a longer time delays workers, a shorter one sends Redis more requests.
 */
const POLL_MS = 100;
/** The longest wait for a place within the rate limit. An answer may free a place sooner than expected. Chosen by hand. */
const LONGEST_WAIT_MS = 1000;

/** Beginning of a script: defines `number`, which returns a field of the ledger, 0 if the field is missing. */
const NUMBER = `local function number(field) return tonumber(redis.call('HGET', KEYS[1], field) or '0') end
`;

/**
 * Beginning of a script: defines three functions. `finish` ends an attempt. What the attempt reserved counts as spent, because
 * the endpoint may have billed its requests. `attempts` returns the key and the value of the lock of each attempt. `finishDead`
 * ends the attempts that no longer have their lock, and returns whether there were any.
 */
const FINISH = `
local function finish(attempt)
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local kind, owner = string.match(all[i], '^(%a+):(%x+)')
    if owner == attempt then
      if kind == 'held' then
        redis.call('HINCRBY', KEYS[1], 'spent', all[i + 1])
        redis.call('HINCRBY', KEYS[1], 'reserved', 0 - all[i + 1])
        redis.call('HINCRBY', KEYS[1], 'pending', -1)
      end
      redis.call('HDEL', KEYS[1], all[i])
    end
  end
end
local function attempts()
  local found, all = {}, redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local attempt = string.match(all[i], '^attempt:(.*)$')
    if attempt then found[attempt] = {string.match(all[i + 1], '^(.*) (.*)$')} end
  end
  return found
end
local function finishDead()
  local any = false
  for attempt, lock in pairs(attempts()) do
    if redis.call('GET', lock[1]) ~= lock[2] then
      finish(attempt)
      any = true
    end
  end
  return any
end
`;

/** Begins an attempt at a shard, and ends earlier attempts at it. KEYS: ledger. ARGV: attempt, key of the lock, its value. */
export const BEGIN_SHARD = `${NUMBER}${FINISH}
-- A job that has ended has no ledger.
if redis.call('HEXISTS', KEYS[1], 'budget') == 0 then return end
for attempt, lock in pairs(attempts()) do
  if lock[1] == ARGV[2] and attempt ~= ARGV[1] then finish(attempt) end
end
redis.call('HSET', KEYS[1], 'attempt:' .. ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
`;

/** Ends an attempt at a shard. KEYS: ledger. ARGV: attempt. */
export const END_SHARD = `${FINISH}
finish(ARGV[1])
`;

/**
 * Reserves the maximum cost of a request, and a place within the rate limit, from now until one window after the answer. The
 * endpoint receives the request between now and the answer. So it never receives more than `rate` requests in a window,
 * however slow the network is. KEYS: ledger, lock of the shard, places, pause. ARGV: attempt, number of the request, cost,
 * value of the lock, longest time of a request in milliseconds. Returns {'ok' | 'wait' | 'refused' | 'lost', spent,
 * milliseconds to wait}. 'lost': the attempt has ended or no longer has its lock.
 */
export const RESERVE = `${NOW}${NUMBER}${FINISH}
local request = ARGV[1] .. ':' .. ARGV[2]
if redis.call('HEXISTS', KEYS[1], 'held:' .. request) == 1 then return {'ok', number('spent')} end
if redis.call('GET', KEYS[2]) ~= ARGV[4] then return {'lost', 0} end
-- A job that has ended has no ledger: wait until its worker stops the shard.
if redis.call('HEXISTS', KEYS[1], 'budget') == 0 then return {'wait', 0, ${POLL_MS}} end
if redis.call('HEXISTS', KEYS[1], 'attempt:' .. ARGV[1]) == 0 then return {'lost', 0} end
local cost, budget = tonumber(ARGV[3]), number('budget')
if budget >= 0 and number('spent') + number('reserved') + cost > budget then
  finishDead()
  if number('pending') > 0 then return {'wait', number('spent'), ${POLL_MS}} end
  redis.call('HSET', KEYS[1], 'refusal', 'the next request', 'needed', cost)
  return {'refused', number('spent')}
end
local spent = number('spent')
local paused = redis.call('PTTL', KEYS[4])
if paused > 0 then return {'wait', spent, paused} end
local rate = number('rate')
if rate > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. now)
  if redis.call('ZCARD', KEYS[3]) >= rate then
    local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
    return {'wait', spent, math.min(${LONGEST_WAIT_MS}, first[2] - now + 1)}
  end
  redis.call('ZADD', KEYS[3], now + ARGV[5] + number('window'), request)
end
redis.call('HINCRBY', KEYS[1], 'reserved', cost)
redis.call('HINCRBY', KEYS[1], 'pending', 1)
redis.call('HSET', KEYS[1], 'held:' .. request, cost)
return {'ok', spent}
`;

/**
 * Replaces a reservation by the actual cost, and keeps the request's place within the rate limit for one window from now. KEYS:
 * ledger, places. ARGV: attempt, number of the request, actual cost.
 */
export const SETTLE = `${NOW}${NUMBER}
local request = ARGV[1] .. ':' .. ARGV[2]
redis.call('ZADD', KEYS[2], 'XX', now + number('window'), request)
local cost = redis.call('HGET', KEYS[1], 'held:' .. request)
if not cost then return end
redis.call('HINCRBY', KEYS[1], 'reserved', 0 - cost)
redis.call('HINCRBY', KEYS[1], 'pending', -1)
redis.call('HINCRBY', KEYS[1], 'spent', ARGV[3])
redis.call('HDEL', KEYS[1], 'held:' .. request)
`;

/**
 * Begins an episode, by the rule of `Ledger.beginEpisode`. KEYS: ledger. ARGV: attempt, number of the episode, maximum cost
 * of a request, requests of an episode. Returns {'ok' | 'wait' | 'refused' | 'lost', spent, milliseconds to wait}.
 */
export const BEGIN_EPISODE = `${NUMBER}${FINISH}
local play = 'play:' .. ARGV[1] .. ':' .. ARGV[2]
local budget, spent = number('budget'), number('spent')
if redis.call('HEXISTS', KEYS[1], play) == 1 then return {'ok', spent} end
-- A job that has ended has no ledger: wait until its worker stops the shard.
if redis.call('HEXISTS', KEYS[1], 'budget') == 0 then return {'wait', 0, ${POLL_MS}} end
if redis.call('HEXISTS', KEYS[1], 'attempt:' .. ARGV[1]) == 0 then return {'lost', 0} end
local largest = math.max(number('largest'), tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'largest', largest)
if budget >= 0 then
  if redis.call('HEXISTS', KEYS[1], 'refusal') == 1 then return {'refused', spent} end
  local paid = {}
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 5) == 'play:' then table.insert(paid, tonumber(all[i + 1])) end
  end
  local episodes = number('episodes')
  if #paid > 0 or episodes > 0 then
    local expected = episodes > 0 and number('cost') / episodes or ARGV[4] * largest
    local needed = expected + (episodes > 0 and largest or 0)
    local future = needed
    for _, each in ipairs(paid) do future = future + math.max(0, expected - each) end
    if spent + future > budget then
      if finishDead() then return {'wait', spent, 0} end
      if #paid > 0 then return {'wait', spent, ${POLL_MS}} end
      redis.call('HSET', KEYS[1], 'refusal', 'the next episode', 'needed', math.ceil(needed))
      return {'refused', spent}
    end
  end
end
redis.call('HSET', KEYS[1], play, 0)
return {'ok', spent}
`;

/**
 * Raises what an episode has cost so far; ignores a lower cost. KEYS: ledger. ARGV: attempt, number of the episode, cost of all
 * its answers.
 */
export const RAISE_COST = `
local field = 'play:' .. ARGV[1] .. ':' .. ARGV[2]
local paid = redis.call('HGET', KEYS[1], field)
if paid and tonumber(paid) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], field, ARGV[3]) end
`;

/** Ends an episode. KEYS: ledger. ARGV: attempt, number of the episode, 1 if it is finished. */
export const END_EPISODE = `
local field = 'play:' .. ARGV[1] .. ':' .. ARGV[2]
local paid = redis.call('HGET', KEYS[1], field)
if not paid then return end
if ARGV[3] == '1' then
  redis.call('HINCRBY', KEYS[1], 'episodes', 1)
  redis.call('HINCRBY', KEYS[1], 'cost', paid)
end
redis.call('HDEL', KEYS[1], field)
`;

/** Pauses all requests, unless a longer pause is left. KEYS: pause. ARGV: milliseconds. */
export const PAUSE = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], 1, 'PX', ARGV[1]) end
`;
