/** Lua scripts: changes of several keys that happen together or not at all. Times are of the server, in milliseconds. */

/** Sets `now`. */
export const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Registers a job, or sets the settings of an open one. KEYS: meta, open, names, job. ARGV: version, world, name, submission,
 * settings, then other fields and values of the job. Returns {state before ('none' for a new job), settings before}, or
 * {'foreign', version, world} of another queue with open jobs.
 */
export const REGISTER = `${NOW}
local version, world = unpack(redis.call('HMGET', KEYS[1], 'version', 'world'))
local other = version and (version ~= ARGV[1] or world ~= ARGV[2])
if other and redis.call('SCARD', KEYS[2]) > 0 then return {'foreign', version, world} end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'world', ARGV[2])
local state = redis.call('HGET', KEYS[4], 'state') or 'none'
if state == 'open' then
  -- A script that was sent again after a lost reply.
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

/** Milliseconds after which the record of a collected or cancelled job is dropped: 30 days. */
const RECORD_MS = 30 * 24 * 3600 * 1000;
/** The number of finished shards from which the rate is computed. */
const RECENT = 64;

/** Sets `isCurrent`: whether the job of KEYS[1] is open and has the submission of ARGV[1]. */
const IS_CURRENT = `local state, submission = unpack(redis.call('HMGET', KEYS[1], 'state', 'submission'))
local isCurrent = state == 'open' and submission == ARGV[1]
`;

/**
 * Stores a shard's result, and removes its episodes. KEYS: job, results, differences, finished, episodes. ARGV: submission,
 * index, SHA-256 (32 bytes) and result, milliseconds of compute, where it was computed. Returns 'stored', 'same', 'different'
 * or 'closed'.
 */
export const STORE = `${NOW}${IS_CURRENT}
if not isCurrent then return 'closed' end
local old = redis.call('HGET', KEYS[2], ARGV[2])
if old then
  if string.sub(old, 1, 32) == string.sub(ARGV[3], 1, 32) then return 'same' end
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[5])
  return 'different'
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HINCRBY', KEYS[1], 'compute_ms', ARGV[4])
redis.call('HSETNX', KEYS[1], 'started_at', now - ARGV[4])
redis.call('LPUSH', KEYS[4], now)
redis.call('LTRIM', KEYS[4], 0, ${RECENT})
redis.call('UNLINK', KEYS[5])
return 'stored'
`;

/**
 * Stores an episode of a shard without a result. KEYS: job, results, episodes. ARGV: submission, index, episode, its bytes.
 * Returns the bytes of the episode that is stored; nil if the shard needs none any more.
 */
export const ADD_EPISODE = `${IS_CURRENT}
if not isCurrent or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return nil end
redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[4])
return redis.call('HGET', KEYS[3], ARGV[3])
`;

/** Registers a collector, or extends its time. KEYS: collectors. ARGV: its id, milliseconds. */
export const REGISTER_COLLECTOR = `${NOW}
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
`;

/**
 * Notes that a file is complete. The last running collector removes the data. KEYS: job, open, collectors, then the keys
 * to remove. ARGV: name, collector, file, SHA-256. Returns whether the data was removed.
 */
export const FINISH = `${NOW}
redis.call('ZREM', KEYS[3], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[3], 0, now)
redis.call('HSET', KEYS[1], 'state', 'collected', 'collected_at', now, 'file', ARGV[3], 'sha256', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ${RECORD_MS})
redis.call('SREM', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[3]) > 0 then return 0 end
redis.call('UNLINK', unpack(KEYS, 4))
return 1
`;

/** Cancels a job and removes its data. KEYS: job, open, then the keys to remove. ARGV: name. Returns the state before. */
export const CANCEL = `${NOW}
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'none' end
redis.call('UNLINK', unpack(KEYS, 3))
redis.call('SREM', KEYS[2], ARGV[1])
if state == 'open' then redis.call('HSET', KEYS[1], 'state', 'cancelled') end
redis.call('PEXPIRE', KEYS[1], ${RECORD_MS})
return state
`;
