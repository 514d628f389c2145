/**
 * Lua scripts: changes of several keys that no other command can interrupt. Times are those of the Redis server, in
 * milliseconds. keys.ts describes the keys and the submission of a job.
 */

/** Beginning of a script: sets `now`, the time of the Redis server. */
export const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Registers a job, or sets the settings of an open job. KEYS: meta, open, names, job. ARGV: version, world, name, submission,
 * settings, then other fields and values of the job. Returns {state before, settings before} for an open job of another
 * submission, else {state before} ('none' for a new job). If the queue has open jobs of another version or world, changes
 * nothing and returns {'foreign', that version, that world}.
 */
export const REGISTER = `${NOW}
local version, world = unpack(redis.call('HMGET', KEYS[1], 'version', 'world'))
local other = version and (version ~= ARGV[1] or world ~= ARGV[2])
if other and redis.call('SCARD', KEYS[2]) > 0 then return {'foreign', version, world} end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'world', ARGV[2])
local state = redis.call('HGET', KEYS[4], 'state') or 'none'
if state == 'open' then
  -- This script was sent again, because its reply was lost.
  if redis.call('HGET', KEYS[4], 'submission') == ARGV[4] then return {redis.call('HGET', KEYS[4], 'before')} end
  local settings = redis.call('HGET', KEYS[4], 'settings')
  redis.call('HSET', KEYS[4], 'settings', ARGV[5])
  return {state, settings}
end
redis.call('DEL', KEYS[4])
redis.call('HSET', KEYS[4], 'state', 'open', 'before', state, 'submitted_at', now)
redis.call('HSET', KEYS[4], 'submission', ARGV[4], 'settings', unpack(ARGV, 5))
redis.call('SADD', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[3], now, ARGV[3])
return {state}
`;

/** Milliseconds after which the record of a collected or cancelled job is dropped: 30 days, chosen by hand. */
export const RECORD_MS = 30 * 24 * 3600 * 1000;
/**
 * The number of intervals between finished shards from which `status` computes the shards per second. Chosen by hand: with
 * more, the figure fluctuates less and follows a change later.
 */
const RECENT = 64;

/** Beginning of a script: sets `isCurrent`, whether the job of KEYS[1] is open and has the submission of ARGV[1]. */
const IS_CURRENT = `local state, submission = unpack(redis.call('HMGET', KEYS[1], 'state', 'submission'))
local isCurrent = state == 'open' and submission == ARGV[1]
`;

/**
 * Stores a shard's result, and removes its episodes. KEYS: job, results, digests, differences, finished, episodes. ARGV:
 * submission, index, the SHA-256 of the result (32 bytes) followed by the result, milliseconds of compute, the machine that
 * computed the shard. Returns 'stored'; 'same' or 'different' if the shard already had a result; 'closed' if the job is not
 * open or has another submission.
 */
export const STORE = `${NOW}${IS_CURRENT}
if not isCurrent then return 'closed' end
local digest, old = string.sub(ARGV[3], 1, 32), redis.call('HGET', KEYS[3], ARGV[2])
if old then
  if old == digest then return 'same' end
  redis.call('HSET', KEYS[4], ARGV[2], ARGV[5])
  return 'different'
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[2], digest)
redis.call('HINCRBY', KEYS[1], 'compute_ms', ARGV[4])
redis.call('HSETNX', KEYS[1], 'started_at', now - ARGV[4])
redis.call('LPUSH', KEYS[5], now)
redis.call('LTRIM', KEYS[5], 0, ${RECENT})
redis.call('UNLINK', KEYS[6])
return 'stored'
`;

/**
 * Counts a failed attempt if the submission is current: once, even if this script is sent again because its reply was lost.
 * KEYS: job, failures. ARGV: submission, name of the attempt.
 */
export const NOTE_FAILURE = `${IS_CURRENT}
if isCurrent and redis.call('SADD', KEYS[2], ARGV[2]) == 1 then redis.call('HINCRBY', KEYS[1], 'failures', 1) end
`;

/**
 * Stores an episode of a shard that has no result yet. KEYS: job, digests, episodes. ARGV: submission, index, key of the
 * episode, its bytes. Returns the bytes of the episode that is stored; nil if the shard needs no more episodes.
 */
export const ADD_EPISODE = `${IS_CURRENT}
if not isCurrent or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return nil end
redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[4])
return redis.call('HGET', KEYS[3], ARGV[3])
`;

/**
 * Cancels a job if it is open, and removes its data. KEYS: job, open, then the keys to remove. ARGV: name. Returns the state
 * before.
 */
export const CANCEL = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'none' end
redis.call('UNLINK', unpack(KEYS, 3))
redis.call('SREM', KEYS[2], ARGV[1])
if state == 'open' then redis.call('HSET', KEYS[1], 'state', 'cancelled') end
redis.call('PEXPIRE', KEYS[1], ${RECORD_MS})
return state
`;
