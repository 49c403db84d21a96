extension FleetSchema {
    /// The beginnings, waves and gate of a rollout.
    ///
    /// Everything that changes the gate's numbers locks the rollout's row: none counts past the gate.
    static let waves = """
        -- Begins a rollout, or continues it; `p_seen` is the beginning that the caller has
        -- seen, so that only one of two gateways that begin it again at the same time succeeds. Each
        -- beginning begins at the first wave, and its gate counts from zero.
        CREATE OR REPLACE FUNCTION yardmaster.enter(
          p_rollout text, p_plan text, p_begins boolean, p_seen bigint, p_instance uuid
        ) RETURNS TABLE (o_beginning bigint, o_plan text)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; BEGIN
          PERFORM yardmaster.must_be(p_instance, NULL);
          INSERT INTO yardmaster.rollout AS n (name, plan) VALUES (p_rollout, p_plan)
          ON CONFLICT (name) DO NOTHING;
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF p_begins AND r.beginning = p_seen THEN
            UPDATE yardmaster.rollout n SET beginning = n.beginning + 1, plan = p_plan,
              state = 'running', begun = yardmaster.clock(), updated = yardmaster.clock(),
              hold = NULL, hold_reason = NULL, hold_author = NULL, hold_made = NULL,
              wave = 0, wave_ended = NULL, attempted = 0, failed = 0, checker = NULL,
              stopped_after = NULL
            WHERE n.name = p_rollout RETURNING * INTO r;
          END IF;
          UPDATE yardmaster.gateway g
          SET rollout = r.name, beginning = r.beginning, draining = NULL
          WHERE g.instance = p_instance;
          RETURN QUERY SELECT r.beginning, r.plan;
        END $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.trips(
          r yardmaster.rollout, p_failed bigint, p_attempted bigint
        ) RETURNS boolean LANGUAGE sql IMMUTABLE AS $yardmaster$
          SELECT CASE
            WHEN r.most_failed IS NOT NULL THEN p_failed > r.most_failed
            WHEN r.most_share IS NOT NULL THEN p_attempted >= r.at_least
              AND p_failed * 10000 > r.most_share * p_attempted
            ELSE false END
        $yardmaster$;

        -- Sets the gate's hold, whatever hold there is: of the two the graver one counts, of equal ones the earlier
        -- one, with the reasons of both. `r` is the rollout with its new numbers.
        CREATE OR REPLACE FUNCTION yardmaster.trip(r yardmaster.rollout) RETURNS void
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE
          words text := format('the gate: %s of %s attempted have failed, at most %s may',
            r.failed, r.attempted, r.gate_words);
        BEGIN
          IF r.hold = 'aborted' OR r.hold = 'paused' AND r.gate_action <> 'abort' THEN
            UPDATE yardmaster.rollout n
            SET hold_reason = format('%s; then, by gate: %s', r.hold_reason, words)
            WHERE n.name = r.name;
          ELSE
            UPDATE yardmaster.rollout n SET
              hold = CASE r.gate_action WHEN 'abort' THEN 'aborted' ELSE 'paused' END,
              hold_reason = words
                || coalesce(format('; before that, by %s: ', r.hold_author) || r.hold_reason, ''),
              hold_author = 'gate', hold_made = yardmaster.clock()
            WHERE n.name = r.name;
          END IF;
        END $yardmaster$;

        -- Gateways that are at work on a rollout and may take any of its vehicles.
        CREATE OR REPLACE FUNCTION yardmaster.workers(p_rollout text, p_beginning bigint)
        RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $yardmaster$
          SELECT g.instance FROM yardmaster.gateway g
          WHERE g.rollout = p_rollout AND g.beginning = p_beginning AND g.gone IS NULL
            AND g.draining IS NULL AND g.heard > yardmaster.clock() - interval '2 minutes'
        $yardmaster$;

        -- Enters the plan's vehicles and rules, and queues vehicles again that have not ended well: all of them when no
        -- other gateway is at work, else only those that were put off. A known failure is queued in the last wave: its
        -- own wave does not wait for it.
        CREATE OR REPLACE FUNCTION yardmaster.enlist(
          p_rollout text, p_beginning bigint, p_instance uuid, p_vehicles text[],
          p_serials text[], p_in integer[], p_waves integer, p_most_failed integer,
          p_most_share integer, p_at_least integer, p_action text, p_words text,
          p_partial boolean
        ) RETURNS TABLE (o_wave integer, o_changes bigint)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; is_alone boolean; BEGIN
          PERFORM yardmaster.must_be(p_instance, NULL);
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
          -- A vehicle whose right is over without a report gives its place back.
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
          UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1,
            wave = CASE WHEN e.outcome IN ('unreachable', 'deferred', 'skipped', 'aborted')
              THEN e.wave ELSE greatest(e.wave, p_waves - 1) END
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

        -- A gateway whose window opens takes part, and what was deferred or not heard without it is queued again.
        CREATE OR REPLACE FUNCTION yardmaster.come_back(
          p_rollout text, p_beginning bigint, p_instance uuid
        ) RETURNS void LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; BEGIN
          PERFORM yardmaster.must_be(p_instance, NULL);
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF r.beginning IS DISTINCT FROM p_beginning THEN RETURN; END IF;
          UPDATE yardmaster.gateway g SET draining = NULL WHERE g.instance = p_instance;
          UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1
          WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.state = 'ended'
            AND e.outcome IN ('unreachable', 'deferred', 'skipped')
            AND NOT EXISTS (SELECT FROM yardmaster.missed m
              WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                AND m.vehicle = e.vehicle AND m.instance = p_instance);
          IF FOUND THEN
            UPDATE yardmaster.rollout n SET changes = n.changes + 1, state = 'running'
            WHERE n.name = p_rollout;
          END IF;
        END $yardmaster$;

        -- Ends vehicles of an aborted rollout that no gateway works on.
        CREATE OR REPLACE FUNCTION yardmaster.end_aborted(
          p_rollout text, p_beginning bigint, p_vehicles text[], p_sentence text
        ) RETURNS void LANGUAGE sql AS $yardmaster$
          WITH r AS (
            UPDATE yardmaster.rollout n SET changes = n.changes + 1, updated = yardmaster.clock()
            WHERE n.name = p_rollout AND n.beginning = p_beginning AND n.hold = 'aborted'
            RETURNING n.changes
          )
          UPDATE yardmaster.execution e SET state = 'ended', outcome = 'aborted', failure = NULL,
            sentence = p_sentence, version = NULL, gateway = '', changed = r.changes
          FROM r WHERE e.rollout = p_rollout AND e.beginning = p_beginning
            AND e.vehicle = ANY (p_vehicles)
            AND (e.state <> 'ended'
              OR e.outcome = 'in-doubt' AND NOT yardmaster.is_doubtful(e.vehicle))
            AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.serial = e.serial
              AND m.holder IS NOT NULL AND m.expires > yardmaster.clock())
        $yardmaster$;

        -- The state of the current wave: one row when all of it has ended, no row before.
        --
        -- A vehicle ends once all gateways at work have left it and no gateway may still use a right
        -- to it. What is in doubt or owed on it decides first, then the verdicts of the gateways that
        -- left it. A right that is over is taken away, so a later verdict under it is an observation.
        -- Failures of the classes `p_classes` count at the gate; with NULL all failures do.
        CREATE OR REPLACE FUNCTION yardmaster.wave(p_rollout text, p_beginning bigint, p_classes text[])
        RETURNS TABLE (
          o_wave integer, o_waves integer, o_members bigint, o_reached bigint,
          o_attempted bigint, o_succeeded bigint, o_soaked bigint
        )
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; workers uuid[]; working bigint; news record; BEGIN
          -- Most looks find a wave under way: they lock nothing, and read each open vehicle once.
          SELECT n.* INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout;
          SELECT array_agg(w), count(*) INTO workers, working
          FROM yardmaster.workers(p_rollout, p_beginning) w;
          IF working > 0 AND EXISTS (SELECT FROM yardmaster.execution e
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave <= r.wave
                AND e.state <> 'ended')
            AND NOT EXISTS (SELECT FROM yardmaster.execution e
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave <= r.wave
                AND e.state <> 'ended' AND working = (SELECT count(*) FROM yardmaster.missed m
                  WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                    AND m.vehicle = e.vehicle AND m.instance = ANY (workers)))
          THEN RETURN; END IF;
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          SELECT array_agg(w), count(*) INTO workers, working
          FROM yardmaster.workers(p_rollout, p_beginning) w;
          IF r.beginning IS DISTINCT FROM p_beginning OR r.hold IS NOT NULL
            OR r.state = 'finished' OR working = 0
            -- Its vehicles are lost: a wave of none does not end.
            OR NOT EXISTS (SELECT FROM yardmaster.execution e
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning)
          THEN RETURN; END IF;
          WITH gone AS MATERIALIZED (
            SELECT e.vehicle FROM yardmaster.execution e
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave <= r.wave
              AND e.state <> 'ended' AND working = (SELECT count(*) FROM yardmaster.missed m
                WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                  AND m.vehicle = e.vehicle AND m.instance = ANY (workers))
          ), facts AS MATERIALIZED (
            SELECT e.vehicle, e.serial, e.state, e.instance, e.epoch, e.forgiven, e.attempted,
              e.failed, l.gateway, l.outcome, l.failure, l.sentence,
              EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = e.vehicle
                AND (s.outcome IS NULL OR s.outcome = 'in-doubt')) AS is_doubtful,
              EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = e.serial) AS is_indebted,
              EXISTS (SELECT FROM yardmaster.owed o WHERE o.rollout = e.rollout
                AND o.vehicle = e.vehicle) AS owes,
              e.touched OR EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = e.vehicle
                  AND s.rollout = e.rollout AND s.beginning = e.beginning)
                OR EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = e.serial
                  AND d.rollout = e.rollout AND d.begun >= r.begun)
                OR EXISTS (SELECT FROM yardmaster.owed o WHERE o.rollout = e.rollout
                  AND o.vehicle = e.vehicle AND o.epoch = e.epoch) AS is_touched
            FROM gone JOIN yardmaster.execution e ON e.rollout = p_rollout
              AND e.beginning = p_beginning AND e.vehicle = gone.vehicle
            LEFT JOIN LATERAL (
              SELECT m.gateway, m.outcome, m.failure, m.sentence FROM yardmaster.missed m
              JOIN yardmaster.workers(p_rollout, p_beginning) w ON w = m.instance
              WHERE m.rollout = p_rollout AND m.beginning = p_beginning
                AND m.vehicle = e.vehicle AND m.outcome IS NOT NULL
              ORDER BY array_position(ARRAY['in-doubt', 'succeeded', 'already-current',
                'failed', 'rolled-back', 'rejected', 'timed-out', 'skipped', 'deferred',
                'aborted', 'unreachable'], m.outcome), m.gateway LIMIT 1
            ) l ON true
            WHERE e.state <> 'ended' AND e.wave <= r.wave
              AND NOT (e.state = 'claimed' AND EXISTS (SELECT FROM yardmaster.module m
                WHERE m.serial = e.serial AND m.holder = e.instance AND m.epoch = e.epoch
                  AND m.expires + interval '100 seconds' >= yardmaster.clock()))
          ), freed AS (
            UPDATE yardmaster.module m
            SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
            FROM facts f WHERE f.state = 'claimed' AND m.serial = f.serial
              AND m.holder = f.instance AND m.epoch = f.epoch
          ), ends AS (
            SELECT f.*,
              CASE WHEN f.is_doubtful THEN 'in-doubt'
                WHEN f.is_indebted OR f.owes THEN 'failed'
                ELSE coalesce(f.outcome, 'unreachable') END AS ends_as,
              CASE WHEN f.is_doubtful THEN 'in-doubt'
                WHEN NOT (f.is_indebted OR f.owes) THEN
                  CASE WHEN f.outcome IS NULL THEN 'unreachable' ELSE f.failure END
                -- A vehicle that was left alone has not failed by an act of this rollout.
                WHEN f.outcome IN ('deferred', 'skipped', 'aborted') THEN 'unreachable'
                WHEN f.outcome = 'failed' THEN f.failure
                WHEN f.is_indebted THEN 'no-return' ELSE 'device' END AS class
            FROM facts f
          ), counts AS (
            SELECT n.*, NOT n.forgiven AND (n.ends_as = 'succeeded' OR n.is_touched
                AND n.ends_as IN ('failed', 'rolled-back', 'timed-out', 'in-doubt', 'rejected')
                AND NOT (n.ends_as = 'failed' AND n.class = 'unreachable')) AS is_attempt
            FROM ends n
          ), done AS (
            UPDATE yardmaster.execution e SET state = 'ended', version = NULL,
              outcome = c.ends_as, failure = c.class,
              gateway = CASE WHEN c.outcome = c.ends_as THEN coalesce(c.gateway, '') ELSE '' END,
              sentence = CASE WHEN c.outcome = c.ends_as THEN c.sentence
                WHEN c.is_doubtful THEN 'its gateway began a command and has vanished: nobody '
                  || 'knows whether it was carried out; look at the vehicle, then retry or clear it'
                WHEN c.is_indebted OR c.owes THEN 'what was begun on it is not proven, and no '
                  || 'gateway at work has seen it since'
                ELSE 'not heard by any gateway at work; is it in the depot, charged, and not '
                  || 'connected to a phone?' END,
              touched = e.touched OR c.is_touched,
              attempted = CASE WHEN c.is_attempt THEN 1 ELSE 0 END,
              failed = CASE WHEN c.is_attempt AND c.ends_as <> 'succeeded'
                AND (p_classes IS NULL OR c.class IS NULL OR c.class = ANY (p_classes))
                THEN 1 ELSE 0 END,
              counted = e.counted OR c.is_attempt, changed = r.changes + 1
            FROM counts c
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.vehicle = c.vehicle
            RETURNING e.attempted - c.attempted AS attempted, e.failed - c.failed AS failed
          )
          SELECT count(*) AS ended, coalesce(sum(d.attempted), 0) AS attempted,
            coalesce(sum(d.failed), 0) AS failed
          INTO news FROM done d;
          IF news.ended > 0 THEN
            UPDATE yardmaster.rollout n SET changes = n.changes + 1,
              attempted = n.attempted + news.attempted, failed = n.failed + news.failed,
              updated = yardmaster.clock()
            WHERE n.name = p_rollout RETURNING * INTO r;
            IF news.failed > 0 AND yardmaster.trips(r, r.failed, r.attempted) THEN
              PERFORM yardmaster.trip(r);
              RETURN;
            END IF;
          END IF;
          IF EXISTS (SELECT FROM yardmaster.execution e
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning
              AND e.wave <= r.wave AND e.state <> 'ended')
          THEN RETURN; END IF;
          UPDATE yardmaster.rollout n SET
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
}
