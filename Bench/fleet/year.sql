-- Makes a year of nights of a rollout, with the vehicles of its plan: psql -v rollout=city -v nights=365 -f year.sql
--
-- Some run has brought the plan. The rollout has begun again each night, and its rows are as four gateways leave them: of
-- each vehicle one execution, and a verdict of one of them; some are away and were missed by all four. Each fifth vehicle
-- has a command that is carried out once a night; every week there is a new image, with a plan of its own.
\set ON_ERROR_STOP 1
SET synchronous_commit = off;
SET session_replication_role = replica;
SET maintenance_work_mem = '512MB';

-- Rows are made without the indexes that only reads need: each is made again from its own definition.
CREATE TEMP TABLE index_of_year AS SELECT i.indexrelid::regclass::text AS name,
  pg_get_indexdef(i.indexrelid) AS definition
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'yardmaster'::regnamespace AND NOT i.indisunique
  AND t.relname IN ('execution', 'verdict', 'step');
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT i.name FROM index_of_year i LOOP EXECUTE 'DROP INDEX ' || name; END LOOP;
END $$;

CREATE TEMP TABLE vehicle_of_year AS
SELECT n, v ->> 0 AS vehicle, v ->> 1 AS serial, (v ->> 4)::integer AS wave
FROM yardmaster.rollout r JOIN yardmaster.plan p ON p.digest = r.plan,
  json_array_elements(p.view::json -> 'vehicles') WITH ORDINALITY AS w(v, n)
WHERE r.name = :'rollout';
CREATE TEMP TABLE night_of_year AS
SELECT b, now() - make_interval(days => (:nights - b)::integer, hours => 8) AS at,
  CASE WHEN b > :nights - 7 THEN (SELECT plan FROM yardmaster.rollout WHERE name = :'rollout')
    ELSE encode(sha256((b / 7)::text::bytea), 'hex') END AS plan,
  encode(sha256(('image' || b / 7)::bytea), 'hex') AS image, format('4.%s.0', 10 + b / 7) AS version
FROM generate_series(1, :nights) b;

UPDATE yardmaster.rollout SET beginning = :nights, begun = now() - interval '8 h', state = 'finished',
  updated = now() - interval '5 h', wave = waves - 1, wave_ended = now() - interval '5 h', hold = NULL,
  hold_reason = NULL, hold_author = NULL, hold_made = NULL
WHERE name = :'rollout';
DELETE FROM yardmaster.execution WHERE rollout = :'rollout';
DELETE FROM yardmaster.verdict WHERE rollout = :'rollout';

-- 0 is away, 1 fails, 2 is put off; all others are well.
CREATE FUNCTION pg_temp.lot(b bigint, n bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n % 50 = 7 OR (n + b * 31) % 97 = 0 THEN 0 WHEN (n * 7 + b) % 211 = 0 THEN 1
    WHEN (n * 3 + b) % 307 = 0 THEN 2 ELSE 3 END $$;

INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave, state, instance, gateway,
  epoch, outcome, failure, sentence, version, touched, attempted, failed, counted, changed, since)
SELECT :'rollout', b, v.vehicle, v.serial, v.wave, 'ended', md5(b || ' ' || n % 4)::uuid,
  'gate-' || n % 4, b,
  CASE lot WHEN 0 THEN 'unreachable' WHEN 1 THEN 'failed' WHEN 2 THEN 'deferred'
    ELSE CASE WHEN b % 7 = 0 THEN 'succeeded' ELSE 'already-current' END END,
  CASE lot WHEN 0 THEN 'unreachable' WHEN 1 THEN 'device' WHEN 2 THEN 'transient' END,
  CASE lot WHEN 0 THEN 'no gateway at work hears it' WHEN 1 THEN 'the module refuses the key'
    WHEN 2 THEN 'state_of_charge is 31, not >= 40; a later run tries again'
    ELSE format('runs %s, read twice after its restart', night.version) END,
  CASE lot WHEN 3 THEN night.version END, lot IN (1, 3), (lot IN (1, 3))::integer,
  (lot = 1)::integer, lot IN (1, 3), n, night.at + n * interval '1 s'
FROM night_of_year night, vehicle_of_year v, LATERAL (SELECT pg_temp.lot(b, n) AS lot) l
ORDER BY b, n;

INSERT INTO yardmaster.verdict (instance, serial, epoch, rollout, vehicle, gateway, run, outcome,
  failure, sentence, version, counts, at)
SELECT e.instance, e.serial, e.epoch, e.rollout, e.vehicle, e.gateway, e.beginning, e.outcome, e.failure,
  e.sentence, e.version, true, e.since
FROM yardmaster.execution e WHERE e.rollout = :'rollout' AND e.outcome <> 'unreachable'
ORDER BY e.beginning, e.changed;

INSERT INTO yardmaster.missed (rollout, beginning, vehicle, instance)
SELECT e.rollout, e.beginning, e.vehicle, md5(e.beginning || ' ' || g)::uuid
FROM yardmaster.execution e, generate_series(0, 3) g
WHERE e.rollout = :'rollout' AND e.outcome = 'unreachable' ORDER BY e.beginning, e.vehicle, g;

INSERT INTO yardmaster.step (rollout, beginning, vehicle, digest, ordinal, serial, action, epoch,
  instance, gateway, begun, outcome, settled)
SELECT e.rollout, e.beginning, e.vehicle, encode(sha256('horn'), 'hex'), 0, e.serial, 'command horn',
  e.epoch, e.instance, e.gateway, e.since, 'done', e.since
FROM yardmaster.execution e
WHERE e.rollout = :'rollout' AND e.changed % 5 = 0 AND e.version IS NOT NULL
ORDER BY e.beginning, e.vehicle;

-- In the last night some steps, updates and duties have stayed open.
UPDATE yardmaster.step SET outcome = 'in-doubt' WHERE rollout = :'rollout' AND beginning = :nights
  AND vehicle IN (SELECT vehicle FROM vehicle_of_year WHERE n % 1000 = 5);
INSERT INTO yardmaster.debt (serial, vehicle, rollout, epoch, gateway, image, name, version, target, total)
SELECT serial, vehicle, :'rollout', :nights, 'gate-1', image, 'city', version, 'firmware', 99000
FROM vehicle_of_year, night_of_year WHERE n % 500 = 9 AND b = :nights;
INSERT INTO yardmaster.failure (vehicle, release, count, message, last)
SELECT v.vehicle, night.image, 2, 'the module refuses the key', night.at
FROM vehicle_of_year v, night_of_year night WHERE pg_temp.lot(b, n) = 1 AND b % 7 = 0;

INSERT INTO yardmaster.transfer (serial, vehicle, rollout, image, name, version, target, before, proven)
SELECT v.serial, v.vehicle, :'rollout', night.image, 'city', night.version, 'firmware',
  format('4.%s.0', 9 + b / 7), true
FROM night_of_year night, vehicle_of_year v WHERE b % 7 = 0 AND pg_temp.lot(b, n) = 3
ORDER BY b, n
ON CONFLICT DO NOTHING;

INSERT INTO yardmaster.plan (digest, rollout, quarantine_after, zone, view, mark, brought)
SELECT DISTINCT ON (night.plan) night.plan, p.rollout, p.quarantine_after, p.zone, p.view, p.mark, night.at
FROM night_of_year night, yardmaster.plan p JOIN yardmaster.rollout r ON r.plan = p.digest
WHERE r.name = :'rollout' ORDER BY night.plan, b
ON CONFLICT DO NOTHING;

INSERT INTO yardmaster.gateway (instance, name, program, since, heard, gone, rollout, beginning)
SELECT md5(b || ' ' || g)::uuid, 'gate-' || g, '0.1.0', at, at + interval '3 h', at + interval '3 h',
  :'rollout', b
FROM night_of_year, generate_series(0, 3) g ORDER BY b, g;
INSERT INTO yardmaster.run (instance, gateway, number, rollout, beginning, plan, is_order, began, noted,
  ended, exit_code, reason, counts, closed)
SELECT md5(b || ' ' || g)::uuid, 'gate-' || g, b, :'rollout', b, plan, false, at, at, at + interval '3 h',
  1, 'complete', '{"succeeded":9600,"unreachable":300,"failed":60,"deferred":40}', at + interval '3 h'
FROM night_of_year, generate_series(0, 3) g ORDER BY b, g;
INSERT INTO yardmaster.hearing (rollout, vehicle, gateway, beginning, signal, at)
SELECT :'rollout', vehicle, 'gate-' || (n + k) % 4, :nights, -60 - n % 20, now() - interval '6 h'
FROM vehicle_of_year, generate_series(0, 1) k WHERE n % 50 <> 7;
INSERT INTO yardmaster.module (serial, epoch) SELECT serial, :nights FROM vehicle_of_year
ON CONFLICT (serial) DO UPDATE SET epoch = excluded.epoch, holder = NULL, expires = NULL,
  rollout = NULL, vehicle = NULL;

-- What people say in a day.
INSERT INTO yardmaster.said (verb, rollout, vehicle, reason, author, at)
SELECT verb, :'rollout', v.vehicle, 'in the workshop', 'mia', at + k * interval '1 min'
FROM night_of_year, unnest('{inhibit,uninhibit,retry,clear,inhibit,uninhibit}'::text[])
  WITH ORDINALITY AS w(verb, k) JOIN vehicle_of_year v ON v.n = 20 * w.k
ORDER BY b, k;
INSERT INTO yardmaster.inhibit (vehicle, reason, author)
SELECT vehicle, 'in the workshop', 'mia' FROM vehicle_of_year WHERE n % 333 = 0;

DO $$ DECLARE definition text; BEGIN
  FOR definition IN SELECT i.definition FROM index_of_year i LOOP EXECUTE definition; END LOOP;
END $$;
VACUUM ANALYZE;
