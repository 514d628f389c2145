/**
 * Lua scripts of a ledger that all workers of a job share. It is a hash. Amounts are whole nanodollars, which numbers of
 * Lua represent exactly. A holder is one attempt at a shard, "INDEX:TOKEN". Fields:
 *   budget; spent; reserved, held:HOLDER: the highest cost of pending requests, of all holders and of one;
 *   pending, count:HOLDER: their number; play:HOLDER:K: what the unfinished episode K has cost;
 *   rate, window: the requests that are allowed in any window of this many milliseconds; without a rate, all are;
 *   episodes, cost: the finished episodes; largest: the largest reservation; refusal: why the budget is spent.
 */
import { NOW } from './scripts.js';

/** Milliseconds between tries while pending requests of other workers may turn out cheaper. */
const POLL_MS = 100;
/** The longest wait for a place within the rate limit: an answer may free one sooner than expected. */
const LONGEST_WAIT_MS = 1000;

const NUMBER = `local function number(field) return tonumber(redis.call('HGET', KEYS[1], field) or '0') end
`;

/**
 * Begins an attempt at a shard. What earlier attempts at it reserved counts as spent: their requests may have been
 * charged. KEYS: ledger. ARGV: index, holder.
 */
export const BEGIN_SHARD = `${NUMBER}
local fields = redis.call('HKEYS', KEYS[1])
local own = ':' .. ARGV[1] .. ':'
for _, field in ipairs(fields) do
  local kind, rest = string.match(field, '^(%a+)(:.*)$')
  if kind and string.sub(rest, 1, #own) == own and string.sub(rest, 1, #ARGV[2] + 1) ~= ':' .. ARGV[2] then
    local value = number(field)
    if kind == 'held' then
      redis.call('HINCRBY', KEYS[1], 'spent', value)
      redis.call('HINCRBY', KEYS[1], 'reserved', 0 - value)
    elseif kind == 'count' then
      redis.call('HINCRBY', KEYS[1], 'pending', 0 - value)
    end
    redis.call('HDEL', KEYS[1], field)
  end
end
`;

/**
 * Reserves the highest cost of a request, and its place within the rate limit: from here until a window after its answer.
 * The endpoint receives the request between the two, so that it never receives more than `rate` in a window, however slow the
 * network is. KEYS: ledger, lock of the shard, rate, pause. ARGV: holder, cost, token, name of the request, longest time
 * of a request in milliseconds. Returns {'ok' | 'wait' | 'refused' | 'lost', spent, milliseconds to wait}.
 */
export const RESERVE = `${NOW}${NUMBER}
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return {'lost', 0} end
-- A job that has ended has no limits: its worker stops the shard soon.
if redis.call('HEXISTS', KEYS[1], 'budget') == 0 then return {'wait', 0, ${POLL_MS}} end
local cost, budget, spent = tonumber(ARGV[2]), tonumber(redis.call('HGET', KEYS[1], 'budget') or '-1'), number('spent')
if budget >= 0 and spent + number('reserved') + cost > budget then
  if number('pending') > 0 then return {'wait', spent, ${POLL_MS}} end
  redis.call('HSET', KEYS[1], 'refusal', 'the next request', 'needed', cost)
  return {'refused', spent}
end
local paused = redis.call('PTTL', KEYS[4])
if paused > 0 then return {'wait', spent, paused} end
local rate = number('rate')
if rate > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. now)
  if redis.call('ZCARD', KEYS[3]) >= rate then
    local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
    return {'wait', spent, math.min(${LONGEST_WAIT_MS}, first[2] - now + 1)}
  end
  redis.call('ZADD', KEYS[3], now + ARGV[5] + number('window'), ARGV[4])
end
redis.call('HINCRBY', KEYS[1], 'reserved', cost)
redis.call('HINCRBY', KEYS[1], 'held:' .. ARGV[1], cost)
redis.call('HINCRBY', KEYS[1], 'pending', 1)
redis.call('HINCRBY', KEYS[1], 'count:' .. ARGV[1], 1)
return {'ok', spent}
`;

/**
 * Replaces a reservation by the actual cost. KEYS: ledger, rate. ARGV: holder, reserved cost, actual cost, name of the
 * request.
 */
export const SETTLE = `${NOW}${NUMBER}
redis.call('ZADD', KEYS[2], 'XX', now + number('window'), ARGV[4])
if redis.call('HEXISTS', KEYS[1], 'held:' .. ARGV[1]) == 0 then return end
redis.call('HINCRBY', KEYS[1], 'held:' .. ARGV[1], 0 - ARGV[2])
redis.call('HINCRBY', KEYS[1], 'count:' .. ARGV[1], -1)
redis.call('HINCRBY', KEYS[1], 'reserved', 0 - ARGV[2])
redis.call('HINCRBY', KEYS[1], 'pending', -1)
redis.call('HINCRBY', KEYS[1], 'spent', ARGV[3])
`;

/**
 * Begins an episode, by the rule of `Ledger.beginEpisode`. KEYS: ledger. ARGV: holder, number of the episode, highest cost
 * of a request, requests of an episode. Returns {'ok' | 'wait' | 'refused', spent}.
 */
export const BEGIN_EPISODE = `${NUMBER}
local budget, spent = tonumber(redis.call('HGET', KEYS[1], 'budget') or '-1'), number('spent')
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
    local future = expected + (episodes > 0 and largest or 0)
    for _, each in ipairs(paid) do future = future + math.max(0, expected - each) end
    if spent + future > budget then
      if #paid > 0 then return {'wait', spent, ${POLL_MS}} end
      redis.call('HSET', KEYS[1], 'refusal', 'the next episode', 'needed', math.ceil(expected))
      return {'refused', spent}
    end
  end
end
redis.call('HSET', KEYS[1], 'play:' .. ARGV[1] .. ':' .. ARGV[2], 0)
return {'ok', spent}
`;

/** Adds the cost of an answer to its episode. KEYS: ledger. ARGV: holder, number of the episode, cost. */
export const ADD_COST = `
local field = 'play:' .. ARGV[1] .. ':' .. ARGV[2]
if redis.call('HEXISTS', KEYS[1], field) == 1 then redis.call('HINCRBY', KEYS[1], field, ARGV[3]) end
`;

/** Ends an episode. KEYS: ledger. ARGV: holder, number of the episode, 1 if it is finished. */
export const END_EPISODE = `
local field = 'play:' .. ARGV[1] .. ':' .. ARGV[2]
local paid = redis.call('HGET', KEYS[1], field)
if not paid then return end
redis.call('HDEL', KEYS[1], field)
if ARGV[3] ~= '1' then return end
redis.call('HINCRBY', KEYS[1], 'episodes', 1)
redis.call('HINCRBY', KEYS[1], 'cost', paid)
`;

/** Pauses all requests. KEYS: pause. ARGV: milliseconds. */
export const PAUSE = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], 1, 'PX', ARGV[1]) end
`;
