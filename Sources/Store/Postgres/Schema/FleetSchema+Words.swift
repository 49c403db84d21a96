extension FleetSchema {
    /// What keeps a vehicle from work, and the retry that people ask for.
    static let words = """
        -- A doubt stays until a person answers it, whichever rollout began it.
        CREATE OR REPLACE FUNCTION yardmaster.is_doubtful(p_vehicle text) RETURNS boolean
        LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = p_vehicle
            AND (s.outcome IS NULL OR s.outcome = 'in-doubt'))
        $yardmaster$;

        -- Whether a vehicle has failed on one release so often that a rollout leaves it alone.
        CREATE OR REPLACE FUNCTION yardmaster.is_quarantined(p_vehicle text, p_plan text) RETURNS boolean
        LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.plan p JOIN yardmaster.failure f
            ON f.count >= p.quarantine_after
            WHERE p.digest = p_plan AND f.vehicle = p_vehicle)
        $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.is_inhibited(p_vehicle text) RETURNS boolean
        LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.inhibit n WHERE n.vehicle IN (p_vehicle, '')
            AND (n.expires IS NULL OR n.expires > yardmaster.clock()))
        $yardmaster$;

        -- Removes the verdicts of a rollout's failed, unreachable and deferred vehicles, on all gateways;
        -- not of vehicles in doubt, inhibited, in quarantine or at work.
        CREATE OR REPLACE FUNCTION yardmaster.retry(p_rollout text, p_author text, p_reason text)
        RETURNS TABLE (word text, o_vehicle text)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE r yardmaster.rollout; taken text[]; BEGIN
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          IF NOT FOUND OR r.hold = 'aborted' THEN
            word := CASE WHEN r.hold = 'aborted' THEN 'aborted' ELSE 'unknown' END;
            RETURN NEXT; RETURN;
          END IF;
          IF r.hold = 'paused' THEN word := 'paused'; RETURN NEXT; END IF;
          WITH again AS (
            UPDATE yardmaster.execution e SET state = 'queued', outcome = NULL, failure = NULL,
              sentence = NULL, version = NULL, changed = r.changes + 1
            WHERE e.rollout = p_rollout AND e.beginning = r.beginning
              AND (e.state IN ('ended', 'queued')
                  AND e.outcome IN ('failed', 'rolled-back', 'rejected', 'timed-out', 'in-doubt',
                    'unreachable', 'deferred')
                OR e.state = 'queued' AND EXISTS (SELECT FROM yardmaster.missed m
                  WHERE m.rollout = e.rollout AND m.beginning = e.beginning
                    AND m.vehicle = e.vehicle AND m.outcome IS NOT NULL))
              AND NOT yardmaster.is_doubtful(e.vehicle)
              AND NOT yardmaster.is_inhibited(e.vehicle)
              AND NOT yardmaster.is_quarantined(e.vehicle, r.plan)
              AND NOT EXISTS (SELECT FROM yardmaster.module m WHERE m.serial = e.serial
                AND m.holder IS NOT NULL AND m.expires > yardmaster.clock())
            RETURNING e.vehicle
          ) SELECT array_agg(again.vehicle ORDER BY again.vehicle) INTO taken FROM again;
          IF taken IS NOT NULL THEN
            DELETE FROM yardmaster.missed m WHERE m.rollout = p_rollout
              AND m.beginning = r.beginning AND m.vehicle = ANY (taken);
            UPDATE yardmaster.rollout n SET changes = n.changes + 1, state = 'running',
              updated = yardmaster.clock() WHERE n.name = p_rollout;
            INSERT INTO yardmaster.said (verb, rollout, reason, author)
            VALUES ('retry', p_rollout, p_reason, p_author);
          END IF;
          RETURN QUERY SELECT 'again'::text, t FROM unnest(taken) AS t;
          RETURN QUERY SELECT 'doubt'::text, e.vehicle FROM yardmaster.execution e
            WHERE e.rollout = p_rollout AND e.beginning = r.beginning
              AND yardmaster.is_doubtful(e.vehicle) ORDER BY e.vehicle;
        END $yardmaster$;
        """
}
