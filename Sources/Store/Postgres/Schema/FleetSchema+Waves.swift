extension FleetSchema {
    /// When the wave of the rollout `n` has ended, after vehicles were queued again.
    ///
    /// A vehicle of the wave that is updated late has its soak time, too. Under a hold it stays: `resume` answers the
    /// question after a wave that had ended.
    static let soak = """
        CASE WHEN n.hold IS NOT NULL OR NOT EXISTS (SELECT FROM yardmaster.execution k
          WHERE k.rollout = n.name AND k.beginning = n.beginning AND k.wave <= n.wave
            AND k.state <> 'ended') THEN n.wave_ended END
        """

    /// The beginnings, waves and gate of a rollout.
    ///
    /// Everything that changes the gate's numbers locks the rollout's row: none counts past the gate.
    static let waves = """
        -- Begins a rollout, or continues it; `p_seen` is the beginning and `p_hold` the hold that the caller has
        -- seen, so that only one of two gateways that begin it again at the same time succeeds, and none begins it over
        -- a hold that it does not know, or over a pause. Each beginning begins at the first wave, and its gate counts from zero. A rollout that it brings vehicles back
        -- from (`p_from`) is recalled in the same transaction.
        CREATE OR REPLACE FUNCTION yardmaster.enter(
          p_rollout text, p_plan text, p_begins boolean, p_seen bigint, p_instance uuid, p_from text,
          p_reason text, p_author text, p_hold text
        ) RETURNS TABLE (o_beginning bigint, o_plan text)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; BEGIN
          PERFORM yardmaster.must_be(p_instance, NULL);
          PERFORM FROM yardmaster.rollout n WHERE n.name = p_from FOR UPDATE;
          INSERT INTO yardmaster.rollout AS n (name, plan) VALUES (p_rollout, p_plan)
          ON CONFLICT (name) DO NOTHING;
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF p_begins AND r.beginning = p_seen AND r.hold IS NOT DISTINCT FROM p_hold
            AND p_hold IS DISTINCT FROM 'paused'
          THEN
            UPDATE yardmaster.rollout n SET beginning = n.beginning + 1, plan = p_plan,
              state = 'running', begun = yardmaster.clock(), updated = yardmaster.clock(),
              hold = NULL, hold_reason = NULL, hold_author = NULL, hold_made = NULL, wave = 0,
              wave_ended = NULL, attempted = 0, failed = 0, room = NULL, checker = NULL,
              stopped_after = NULL
            WHERE n.name = p_rollout RETURNING * INTO r;
          END IF;
          IF r.plan = p_plan THEN
            UPDATE yardmaster.rollout n SET hold = 'recalled', hold_reason = p_reason,
              hold_author = p_author, hold_made = yardmaster.clock(), updated = yardmaster.clock()
            WHERE n.name = p_from AND n.hold IS DISTINCT FROM 'recalled';
            IF FOUND THEN
              INSERT INTO yardmaster.said (verb, rollout, reason, author)
              VALUES ('rollback', p_from, p_reason, p_author);
            END IF;
          END IF;
          UPDATE yardmaster.gateway g
          SET rollout = r.name, beginning = r.beginning, draining = NULL
          WHERE g.instance = p_instance;
          RETURN QUERY SELECT r.beginning, r.plan;
        END $yardmaster$;

        -- Gateways that are at work on a rollout and may take any of its vehicles.
        CREATE OR REPLACE FUNCTION yardmaster.workers(p_rollout text, p_beginning bigint)
        RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $yardmaster$
          SELECT g.instance FROM yardmaster.gateway g
          WHERE g.rollout = p_rollout AND g.beginning = p_beginning AND g.gone IS NULL
            AND g.draining IS NULL AND g.heard > yardmaster.clock() - interval '2 minutes'
        $yardmaster$;

        -- Enters the plan's vehicles and rules, and queues vehicles again that have not ended well: all of them when no
        -- other gateway is at work, else only those that were put off. A run with `p_only` some of the vehicles queues
        -- none but these, and opens no rollout that is finished. A known failure is queued in the last wave: its
        -- own wave does not wait for it.
        CREATE OR REPLACE FUNCTION yardmaster.enlist(
          p_rollout text, p_beginning bigint, p_instance uuid, p_vehicles text[],
          p_serials text[], p_in integer[], p_waves integer, p_most_failed integer,
          p_most_share integer, p_at_least integer, p_action text, p_only text[]
        ) RETURNS TABLE (o_changes bigint, o_rollout yardmaster.rollout)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; is_alone boolean; BEGIN
          PERFORM yardmaster.must_be(p_instance, NULL);
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF NOT FOUND OR r.beginning <> p_beginning THEN RETURN; END IF;
          UPDATE yardmaster.rollout n SET waves = p_waves, most_failed = p_most_failed,
            most_share = p_most_share, at_least = p_at_least, gate_action = p_action,
            updated = yardmaster.clock()
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
          IF p_only IS NOT NULL THEN
            UPDATE yardmaster.gateway g SET draining = yardmaster.clock()
            WHERE g.instance = p_instance;
          END IF;
          is_alone := NOT EXISTS (
            SELECT FROM yardmaster.workers(p_rollout, p_beginning) w WHERE w <> p_instance);
          UPDATE yardmaster.execution e SET state = 'queued', changed = r.changes + 1,
            wave = CASE WHEN e.outcome IN ('unreachable', 'deferred', 'skipped', 'aborted')
              THEN e.wave ELSE greatest(e.wave, p_waves - 1) END
          WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.state = 'ended'
            AND e.vehicle = ANY (coalesce(p_only, p_vehicles))
            AND (e.outcome IN ('unreachable', 'deferred', 'skipped')
              OR is_alone AND e.outcome NOT IN ('succeeded', 'already-current'));
          IF FOUND THEN
            UPDATE yardmaster.rollout n SET changes = n.changes + 1,
              state = CASE WHEN p_only IS NULL THEN 'running' ELSE n.state END,
              wave_ended = \(soak)
            WHERE n.name = p_rollout;
          END IF;
          RETURN QUERY SELECT n.changes, n FROM yardmaster.rollout n WHERE n.name = p_rollout;
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
            UPDATE yardmaster.rollout n SET changes = n.changes + 1, state = 'running',
              wave_ended = \(soak)
            WHERE n.name = p_rollout;
          END IF;
        END $yardmaster$;

        -- Ends vehicles of an aborted rollout that no gateway works on.
        CREATE OR REPLACE FUNCTION yardmaster.end_aborted(
          p_rollout text, p_beginning bigint, p_vehicles text[], p_sentence text
        ) RETURNS void LANGUAGE sql AS $yardmaster$
          WITH r AS (
            UPDATE yardmaster.rollout n SET changes = n.changes + 1, updated = yardmaster.clock()
            WHERE n.name = p_rollout AND n.beginning = p_beginning AND n.hold IN ('aborted', 'recalled')
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

        -- Vehicles of the waves up to this one that all gateways at work have left, while no gateway may
        -- still use a right to them; with `p_among` only those of them, found by key.
        CREATE OR REPLACE FUNCTION yardmaster.left_by_all(
          p_rollout text, p_beginning bigint, p_wave integer, p_among text[]
        ) RETURNS SETOF text LANGUAGE plpgsql ROWS 10 AS $yardmaster$
        DECLARE workers uuid[]; BEGIN
          SELECT array_agg(w) INTO workers FROM yardmaster.workers(p_rollout, p_beginning) w;
          RETURN QUERY SELECT e.vehicle
          FROM unnest(coalesce(p_among, ARRAY(SELECT o.vehicle FROM yardmaster.execution o
            WHERE o.rollout = p_rollout AND o.beginning = p_beginning AND o.wave <= p_wave
              AND o.state <> 'ended'))) AS v
          JOIN yardmaster.execution e ON e.rollout = p_rollout AND e.beginning = p_beginning
            AND e.vehicle = v
          WHERE e.wave <= p_wave AND e.state <> 'ended'
            AND cardinality(workers) = (SELECT count(*) FROM yardmaster.missed m
              WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                AND m.vehicle = e.vehicle AND m.instance = ANY (workers))
            AND NOT (e.state = 'claimed' AND EXISTS (SELECT FROM yardmaster.module m
              WHERE m.serial = e.serial AND m.holder = e.instance AND m.epoch = e.epoch
                AND m.expires + interval '100 seconds' >= yardmaster.clock()));
        END $yardmaster$;

        -- Ends vehicles that all gateways at work have left, as one of these gateways says. A right that is over
        -- is taken away, so a later verdict under it is an observation. Answers the gate's numbers from before.
        CREATE OR REPLACE FUNCTION yardmaster.end_left(
          p_rollout text, p_beginning bigint, p_vehicles text[], p_outcomes text[],
          p_failures text[], p_sentences text[], p_gateways text[], p_touched boolean[],
          p_attempted integer[], p_failed integer[]
        ) RETURNS TABLE (o_attempted integer, o_failed integer, o_rollout yardmaster.rollout)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; news record; BEGIN
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF r.beginning IS DISTINCT FROM p_beginning OR r.hold IS NOT NULL
            OR r.state = 'finished' OR NOT EXISTS (
            SELECT FROM yardmaster.workers(p_rollout, p_beginning) w
            JOIN yardmaster.gateway g ON g.instance = w AND g.login = session_user)
          THEN RETURN; END IF;
          WITH ends AS MATERIALIZED (
            SELECT l.*, e.serial, e.state, e.instance, e.epoch, e.attempted AS had_attempted,
              e.failed AS had_failed
            FROM unnest(p_vehicles, p_outcomes, p_failures, p_sentences, p_gateways, p_touched,
              p_attempted, p_failed) AS l(vehicle, outcome, failure, sentence, gateway, touched,
              attempted, failed)
            JOIN yardmaster.left_by_all(p_rollout, p_beginning, r.wave, p_vehicles) a
              ON a = l.vehicle
            JOIN yardmaster.execution e ON e.rollout = p_rollout
              AND e.beginning = p_beginning AND e.vehicle = l.vehicle
          ), freed AS (
            UPDATE yardmaster.module m
            SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
            FROM ends f WHERE f.state = 'claimed' AND m.serial = f.serial
              AND m.holder = f.instance AND m.epoch = f.epoch
          ), done AS (
            UPDATE yardmaster.execution e SET state = 'ended', version = NULL,
              outcome = n.outcome, failure = nullif(n.failure, ''), gateway = n.gateway,
              sentence = n.sentence, touched = e.touched OR n.touched, attempted = n.attempted,
              failed = n.failed, counted = e.counted OR n.attempted > 0, changed = r.changes + 1
            FROM ends n
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.vehicle = n.vehicle
            RETURNING e.attempted - n.had_attempted AS attempted, e.failed - n.had_failed AS failed
          )
          SELECT coalesce(sum(d.attempted), 0) AS attempted, coalesce(sum(d.failed), 0) AS failed
          INTO news FROM done d;
          RETURN QUERY UPDATE yardmaster.rollout n SET changes = n.changes + 1,
            attempted = n.attempted + news.attempted, failed = n.failed + news.failed,
            updated = yardmaster.clock()
          WHERE n.name = p_rollout RETURNING r.attempted, r.failed, n;
        END $yardmaster$;

        -- Notes when the current wave ended, and counts its vehicles; no row while one is under way or waiting.
        CREATE OR REPLACE FUNCTION yardmaster.end_wave(p_rollout text, p_beginning bigint)
        RETURNS TABLE (o_soaked bigint, o_outcome text, o_touched boolean, o_count bigint)
        LANGUAGE plpgsql AS $yardmaster$ DECLARE r yardmaster.rollout; BEGIN
          SELECT * INTO r FROM yardmaster.rollout n
          WHERE n.name = p_rollout AND n.beginning = p_beginning AND n.hold IS NULL
            AND n.state = 'running' FOR UPDATE;
          IF NOT FOUND OR EXISTS (SELECT FROM yardmaster.execution e
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning
              AND e.wave <= r.wave AND e.state <> 'ended')
            -- Its vehicles are lost: a wave of none does not end.
            OR NOT EXISTS (SELECT FROM yardmaster.execution e
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning)
          THEN RETURN; END IF;
          UPDATE yardmaster.rollout n SET
            wave_ended = coalesce(n.wave_ended, yardmaster.clock())
          WHERE n.name = p_rollout RETURNING * INTO r;
          RETURN QUERY SELECT
            (extract(epoch FROM yardmaster.clock() - r.wave_ended) * 1000000)::bigint, e.outcome,
            e.touched, count(e.vehicle)
          FROM (SELECT) AS one LEFT JOIN yardmaster.execution e ON e.rollout = p_rollout
            AND e.beginning = p_beginning AND e.wave = r.wave
          GROUP BY e.outcome, e.touched;
        END $yardmaster$;
        """
}
