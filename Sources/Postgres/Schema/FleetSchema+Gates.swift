extension FleetSchema {
    /// The waves and the gate of a rollout, and the state of each of its vehicles.
    ///
    /// Everything that changes the gate's numbers locks the rollout's row: none counts past the
    /// gate.
    static let gates = Migration(
        version: 4,
        oldestReader: 4,
        statements: """
            ALTER TABLE yardmaster.rollout
              ADD COLUMN waves integer NOT NULL DEFAULT 1,
              ADD COLUMN wave integer NOT NULL DEFAULT 0,
              ADD COLUMN wave_ended timestamptz,
              ADD COLUMN attempted integer NOT NULL DEFAULT 0,
              ADD COLUMN failed integer NOT NULL DEFAULT 0,
              -- The gate trips on more failures than this, or than this share in hundredths of a
              -- percent.
              ADD COLUMN most_failed integer,
              ADD COLUMN most_share integer,
              ADD COLUMN at_least integer NOT NULL DEFAULT 0,
              ADD COLUMN gate_action text NOT NULL DEFAULT 'pause',
              ADD COLUMN gate_words text NOT NULL DEFAULT '',
              ADD COLUMN checker uuid,
              -- Counts changes of its vehicles, so that a reader can ask for the new ones only.
              ADD COLUMN changes bigint NOT NULL DEFAULT 0;

            ALTER TABLE yardmaster.gateway ADD COLUMN drain boolean NOT NULL DEFAULT false;

            CREATE TABLE yardmaster.execution (
              rollout text NOT NULL,
              beginning bigint NOT NULL,
              vehicle text NOT NULL,
              serial text NOT NULL,
              wave integer NOT NULL,
              state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'claimed', 'ended')),
              -- The gateway that has it, or had it last.
              instance uuid,
              gateway text,
              epoch bigint,
              outcome text,
              failure text,
              sentence text,
              version text,
              touched boolean NOT NULL DEFAULT false,
              -- Its contribution to the gate.
              attempted integer NOT NULL DEFAULT 0,
              failed integer NOT NULL DEFAULT 0,
              counted boolean NOT NULL DEFAULT false,
              forgiven boolean NOT NULL DEFAULT false,
              changed bigint NOT NULL DEFAULT 0,
              PRIMARY KEY (rollout, beginning, vehicle)
            ) WITH (fillfactor = 70);
            CREATE INDEX execution_changed ON yardmaster.execution (rollout, beginning, changed);
            CREATE INDEX execution_claimed ON yardmaster.execution (rollout, beginning)
              WHERE state = 'claimed';
            CREATE INDEX execution_open ON yardmaster.execution (rollout, beginning, wave)
              WHERE state <> 'ended';
            CREATE INDEX execution_holder ON yardmaster.execution (instance)
              WHERE state = 'claimed';

            -- Vehicles that a gateway's process has searched for long enough without hearing them.
            CREATE TABLE yardmaster.missed (
              rollout text NOT NULL,
              beginning bigint NOT NULL,
              vehicle text NOT NULL,
              instance uuid NOT NULL,
              PRIMARY KEY (rollout, beginning, vehicle, instance)
            );

            CREATE FUNCTION yardmaster.trips(
              r yardmaster.rollout, p_failed bigint, p_attempted bigint
            ) RETURNS boolean LANGUAGE sql IMMUTABLE AS $yardmaster$
              SELECT CASE
                WHEN r.most_failed IS NOT NULL THEN p_failed > r.most_failed
                WHEN r.most_share IS NOT NULL THEN p_attempted >= r.at_least
                  AND p_failed * 10000 > r.most_share * p_attempted
                ELSE false END
            $yardmaster$;

            -- Gateways that are at work on a rollout and may take any of its vehicles.
            CREATE FUNCTION yardmaster.workers(p_rollout text, p_beginning bigint)
            RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $yardmaster$
              SELECT g.instance FROM yardmaster.gateway g
              WHERE g.rollout = p_rollout AND g.beginning = p_beginning AND g.gone IS NULL
                AND g.draining IS NULL AND g.heard > yardmaster.clock() - interval '2 minutes'
            $yardmaster$;

            -- Enters the plan's vehicles and rules, and queues vehicles again that have not ended
            -- well: all of them when no other gateway is at work, else only those that were put
            -- off.
            CREATE FUNCTION yardmaster.enlist(
              p_rollout text, p_beginning bigint, p_instance uuid, p_vehicles text[],
              p_serials text[], p_in integer[], p_waves integer, p_most_failed integer,
              p_most_share integer, p_at_least integer, p_action text, p_words text,
              p_partial boolean
            ) RETURNS TABLE (o_wave integer, o_changes bigint)
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE r yardmaster.rollout; is_alone boolean; BEGIN
              SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
              IF NOT FOUND OR r.beginning <> p_beginning THEN RETURN; END IF;
              UPDATE yardmaster.rollout n SET waves = p_waves, most_failed = p_most_failed,
                most_share = p_most_share, at_least = p_at_least, gate_action = p_action,
                gate_words = p_words, updated = yardmaster.clock()
              WHERE n.name = p_rollout;
              INSERT INTO yardmaster.execution (rollout, beginning, vehicle, serial, wave)
              SELECT p_rollout, p_beginning, v.vehicle, v.serial, v.wave
              FROM unnest(p_vehicles, p_serials, p_in) AS v(vehicle, serial, wave)
              ON CONFLICT (rollout, beginning, vehicle) DO NOTHING;
              -- An execution whose right is over without a verdict does not keep its place.
              UPDATE yardmaster.execution e SET state = 'queued'
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.state = 'claimed'
                AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.serial = e.serial
                  AND m.holder = e.instance AND m.epoch = e.epoch);
              IF p_partial THEN
                UPDATE yardmaster.gateway g SET draining = yardmaster.clock()
                WHERE g.instance = p_instance;
              END IF;
              is_alone := NOT EXISTS (
                SELECT FROM yardmaster.workers(p_rollout, p_beginning) w WHERE w <> p_instance);
              UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.state = 'ended'
                AND e.vehicle = ANY (p_vehicles)
                AND (e.outcome IN ('unreachable', 'deferred', 'skipped')
                  OR is_alone AND e.outcome NOT IN ('succeeded', 'already-current'));
              IF FOUND THEN
                UPDATE yardmaster.rollout n SET changes = n.changes + 1, state = 'running'
                WHERE n.name = p_rollout;
              END IF;
              RETURN QUERY SELECT n.wave, n.changes FROM yardmaster.rollout n
              WHERE n.name = p_rollout;
            END $yardmaster$;

            DROP FUNCTION yardmaster.claim;
            CREATE FUNCTION yardmaster.claim(
              p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
              p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
              p_paying boolean, p_release text, p_limit integer, p_partial boolean
            ) RETURNS TABLE (
              word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text, e text
            )
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE
              r yardmaster.rollout; i yardmaster.inhibit; f yardmaster.failure;
              x yardmaster.execution; h record; flying bigint;
            BEGIN
              IF p_beginning > 0 THEN
                -- The gate's numbers stay as they are until this is decided.
                SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
                IF NOT FOUND OR r.beginning <> p_beginning THEN
                  word := 'replaced'; RETURN NEXT; RETURN;
                END IF;
                SELECT * INTO x FROM yardmaster.execution n
                WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                  AND n.vehicle = p_vehicle FOR UPDATE;
                IF x.state = 'ended' AND NOT p_paying THEN
                  word := 'ended'; a := x.outcome; b := x.failure; c := x.sentence;
                  d := x.version; e := x.gateway; RETURN NEXT; RETURN;
                END IF;
                SELECT * INTO i FROM yardmaster.inhibit n
                WHERE n.vehicle IN (p_vehicle, '')
                  AND (n.expires IS NULL OR n.expires > yardmaster.clock())
                ORDER BY n.vehicle DESC LIMIT 1;
                IF FOUND THEN
                  word := 'inhibited'; a := i.vehicle; b := i.reason; c := i.author;
                  d := (extract(epoch FROM i.expires) * 1000)::bigint::text;
                  RETURN NEXT; RETURN;
                END IF;
                IF r.hold IS NOT NULL AND NOT p_paying THEN
                  word := 'stopped'; a := r.hold; b := r.hold_reason; c := r.hold_author;
                  d := (extract(epoch FROM r.hold_made) * 1000)::bigint::text;
                  RETURN NEXT; RETURN;
                END IF;
                IF p_limit > 0 AND NOT p_paying THEN
                  SELECT * INTO f FROM yardmaster.failure n
                  WHERE n.vehicle = p_vehicle AND n.release = p_release AND n.count >= p_limit;
                  IF FOUND THEN
                    word := 'quarantined'; a := f.count::text; b := f.message;
                    RETURN NEXT; RETURN;
                  END IF;
                END IF;
                IF NOT p_paying AND NOT p_partial AND x.wave > r.wave THEN
                  word := 'early'; RETURN NEXT; RETURN;
                END IF;
                -- If all vehicles under way fail, none may fail after the one that trips the gate.
                -- A vehicle whose gateway vanished keeps its place until it is taken over.
                SELECT count(*) INTO flying FROM yardmaster.execution n
                WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                  AND n.state = 'claimed' AND n.vehicle <> p_vehicle;
                IF NOT p_paying AND flying > 0
                  AND yardmaster.trips(r, r.failed + flying, r.attempted + flying)
                THEN
                  word := 'full'; a := flying::text; RETURN NEXT; RETURN;
                END IF;
              END IF;
              SELECT n.generation, n.system_identifier = s.system_identifier::text
                AND n.module_table = 'yardmaster.module'::regclass::oid
                AND n.timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
                AND n.claims_after <= yardmaster.clock() AS is_open
              INTO h FROM yardmaster.history n, pg_control_system() s;
              word := 'refused';
              IF h.is_open AND (p_known = 0 OR h.generation > p_generation
                OR EXISTS (SELECT FROM yardmaster.module n WHERE n.serial = p_serial))
              THEN
                INSERT INTO yardmaster.module AS n
                  (serial, epoch, holder, rollout, vehicle, expires)
                VALUES (p_serial, p_known + 1, p_holder, p_rollout, p_vehicle,
                  yardmaster.clock() + p_length * interval '1 microsecond')
                ON CONFLICT (serial) DO UPDATE SET
                  epoch = CASE
                    WHEN n.holder = excluded.holder AND n.rollout = excluded.rollout
                      AND n.vehicle = excluded.vehicle AND n.expires > yardmaster.clock()
                    THEN n.epoch ELSE greatest(n.epoch, p_known) + 1 END,
                  holder = excluded.holder,
                  rollout = excluded.rollout,
                  vehicle = excluded.vehicle,
                  expires = yardmaster.clock() + p_length * interval '1 microsecond'
                WHERE (n.epoch >= p_known OR h.generation > p_generation)
                  AND (n.holder IS NULL
                    OR n.holder = excluded.holder AND n.rollout = excluded.rollout
                      AND n.vehicle = excluded.vehicle
                    OR n.expires + p_wait * interval '1 microsecond' < yardmaster.clock())
                RETURNING n.epoch INTO o_epoch;
                IF FOUND THEN
                  word := 'granted'; o_generation := h.generation;
                  UPDATE yardmaster.execution n SET instance = p_holder, epoch = o_epoch,
                    state = CASE WHEN n.state = 'ended' THEN n.state ELSE 'claimed' END
                  WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                    AND n.vehicle = p_vehicle;
                END IF;
              END IF;
              RETURN NEXT;
            END $yardmaster$;

            -- Ends work: gives the right back, counts at the gate and trips it. A report that
            -- arrives after another gateway had the right is an observation and changes nothing.
            CREATE FUNCTION yardmaster.settle(
              p_serial text, p_epoch bigint, p_holder uuid, p_gateway text, p_rollout text,
              p_vehicle text, p_run bigint, p_outcome text, p_failure text, p_sentence text,
              p_version text, p_release text, p_beginning bigint, p_touched boolean,
              p_attempted integer, p_failed integer
            ) RETURNS boolean LANGUAGE plpgsql AS $yardmaster$
            DECLARE
              r yardmaster.rollout; x yardmaster.execution; is_own boolean; told bigint;
              n_attempted integer; n_failed integer;
            BEGIN
              SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
              UPDATE yardmaster.module m
              SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
              WHERE m.serial = p_serial AND m.epoch = p_epoch AND m.holder = p_holder;
              is_own := FOUND;
              INSERT INTO yardmaster.verdict (serial, epoch, instance, gateway, rollout, vehicle,
                run, outcome, failure, sentence, version, counts)
              VALUES (p_serial, p_epoch, p_holder, p_gateway, p_rollout, p_vehicle, p_run,
                p_outcome, p_failure, p_sentence, p_version, is_own)
              ON CONFLICT (instance, serial, epoch) DO NOTHING RETURNING number INTO told;
              IF told IS NULL THEN RETURN is_own; END IF;
              IF p_release IS NOT NULL THEN
                INSERT INTO yardmaster.failure AS f (vehicle, release, count, message, last)
                VALUES (p_vehicle, p_release, 1, p_sentence, yardmaster.clock())
                ON CONFLICT (vehicle, release) DO UPDATE SET count = f.count + 1,
                  message = excluded.message, last = excluded.last;
              END IF;
              IF NOT is_own OR r.beginning IS DISTINCT FROM p_beginning THEN RETURN is_own; END IF;
              SELECT * INTO x FROM yardmaster.execution n
              WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                AND n.vehicle = p_vehicle FOR UPDATE;
              IF NOT FOUND THEN RETURN is_own; END IF;
              n_attempted := CASE WHEN x.forgiven THEN 0 ELSE p_attempted END;
              n_failed := CASE WHEN x.forgiven THEN 0 ELSE p_failed END;
              UPDATE yardmaster.execution n SET state = 'ended', instance = p_holder,
                gateway = p_gateway, outcome = p_outcome, failure = p_failure,
                sentence = p_sentence, version = p_version, touched = n.touched OR p_touched,
                attempted = n_attempted, failed = n_failed,
                counted = n.counted OR p_attempted > 0, changed = r.changes + 1
              WHERE n.rollout = p_rollout AND n.beginning = p_beginning AND n.vehicle = p_vehicle;
              UPDATE yardmaster.rollout n SET changes = n.changes + 1,
                attempted = n.attempted - x.attempted + n_attempted,
                failed = n.failed - x.failed + n_failed, updated = yardmaster.clock()
              WHERE n.name = p_rollout RETURNING * INTO r;
              IF yardmaster.trips(r, r.failed, r.attempted)
                AND (r.hold IS NULL OR r.hold = 'paused' AND r.gate_action = 'abort')
              THEN
                UPDATE yardmaster.rollout n SET
                  hold = CASE n.gate_action WHEN 'abort' THEN 'aborted' ELSE 'paused' END,
                  hold_reason = format('the gate: %s of %s attempted have failed, at most %s may',
                    n.failed, n.attempted, n.gate_words),
                  hold_author = 'gate', hold_made = yardmaster.clock()
                WHERE n.name = p_rollout;
              END IF;
              RETURN is_own;
            END $yardmaster$;

            -- The figures of the wave: one row when all its vehicles have ended or were missed by
            -- all gateways at work, else none. Vehicles that no gateway hears are unreachable from
            -- then on.
            CREATE FUNCTION yardmaster.wave(p_rollout text, p_beginning bigint)
            RETURNS TABLE (
              o_wave integer, o_waves integer, o_members bigint, o_reached bigint,
              o_attempted bigint, o_succeeded bigint, o_soaked bigint
            )
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE r yardmaster.rollout; BEGIN
              SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
              IF NOT FOUND OR r.beginning <> p_beginning OR r.hold IS NOT NULL
                OR r.state = 'finished'
                OR NOT EXISTS (SELECT FROM yardmaster.workers(p_rollout, p_beginning))
                OR EXISTS (SELECT FROM yardmaster.execution e
                  WHERE e.rollout = p_rollout AND e.beginning = p_beginning
                    AND e.wave <= r.wave AND e.state = 'claimed')
                OR EXISTS (SELECT FROM yardmaster.execution e
                  JOIN yardmaster.workers(p_rollout, p_beginning) w ON true
                  WHERE e.rollout = p_rollout AND e.beginning = p_beginning
                    AND e.wave <= r.wave AND e.state = 'queued'
                    AND NOT EXISTS (SELECT FROM yardmaster.missed m
                      WHERE m.rollout = p_rollout AND m.beginning = p_beginning
                        AND m.vehicle = e.vehicle AND m.instance = w))
              THEN RETURN; END IF;
              UPDATE yardmaster.execution e SET state = 'ended', outcome = 'unreachable',
                failure = 'unreachable', gateway = '', version = NULL,
                sentence = 'not heard by any gateway at work; is it in the depot, charged, and not '
                  || 'connected to a phone?',
                changed = r.changes + 1
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave <= r.wave
                AND e.state = 'queued';
              IF FOUND THEN r.changes := r.changes + 1; END IF;
              UPDATE yardmaster.rollout n SET changes = r.changes,
                wave_ended = coalesce(n.wave_ended, yardmaster.clock())
              WHERE n.name = p_rollout RETURNING * INTO r;
              RETURN QUERY SELECT r.wave, r.waves, count(*),
                count(*) FILTER (WHERE e.outcome NOT IN ('unreachable', 'aborted')),
                count(*) FILTER (WHERE e.touched OR e.outcome = 'succeeded'),
                count(*) FILTER (WHERE e.outcome = 'succeeded'),
                (extract(epoch FROM yardmaster.clock() - r.wave_ended) * 1000000)::bigint
              FROM yardmaster.execution e
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave = r.wave;
            END $yardmaster$;
            """
    )
}
