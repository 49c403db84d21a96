extension FleetSchema {
    /// Ends a vehicle whose gateway vanished and that no other gateway hears: a wave does not wait
    /// for it forever.
    static let lost = Migration(
        version: 6,
        oldestReader: 4,
        statements: wave(
            doubts: """
                 AND s.rollout = n.rollout
                  AND s.beginning = n.beginning
                """
        )
    )

    /// A doubt stays until a person answers it, even one of an earlier beginning or another
    /// rollout.
    static let doubted = Migration(version: 8, oldestReader: 4, statements: wave(doubts: ""))

    /// The function for a wave's figures; `doubts` restricts which of the vehicle's doubts count.
    private static func wave(doubts: String) -> String {
        """
        -- As before; also ends vehicles whose gateway's right is permanently over and which all
        -- gateways at work have missed. Their right is removed: later reports of that gateway are
        -- observations. A vehicle that owes something does not end as merely unreachable.
        CREATE OR REPLACE FUNCTION yardmaster.wave(p_rollout text, p_beginning bigint)
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
              JOIN yardmaster.module m ON m.serial = e.serial AND m.holder = e.instance
                AND m.epoch = e.epoch
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning
                AND e.wave <= r.wave AND e.state = 'claimed'
                AND m.expires + interval '100 seconds' >= yardmaster.clock())
            OR EXISTS (SELECT FROM yardmaster.execution e
              JOIN yardmaster.workers(p_rollout, p_beginning) w ON true
              WHERE e.rollout = p_rollout AND e.beginning = p_beginning
                AND e.wave <= r.wave AND e.state <> 'ended'
                AND NOT EXISTS (SELECT FROM yardmaster.missed m
                  WHERE m.rollout = p_rollout AND m.beginning = p_beginning
                    AND m.vehicle = e.vehicle AND m.instance = w))
          THEN RETURN; END IF;
          UPDATE yardmaster.module m
          SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
          FROM yardmaster.execution e
          WHERE e.rollout = p_rollout AND e.beginning = p_beginning AND e.wave <= r.wave
            AND e.state = 'claimed' AND m.serial = e.serial AND m.holder = e.instance
            AND m.epoch = e.epoch;
          UPDATE yardmaster.execution e SET state = 'ended', version = NULL,
            outcome = CASE WHEN o.is_doubtful THEN 'in-doubt' WHEN o.owes THEN 'failed'
              ELSE 'unreachable' END,
            failure = CASE WHEN o.is_doubtful THEN 'in-doubt' ELSE 'unreachable' END,
            sentence = CASE
              WHEN o.is_doubtful THEN 'its gateway began a command and has vanished: nobody '
                || 'knows whether it was carried out; look at the vehicle, then retry or clear it'
              WHEN o.owes THEN 'what was begun on it is not proven, and no gateway at work '
                || 'has seen it since'
              ELSE 'not heard by any gateway at work; is it in the depot, charged, and not '
                || 'connected to a phone?' END,
            gateway = '', changed = r.changes + 1
          FROM (SELECT n.vehicle, EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = n.vehicle
                  AND (s.outcome IS NULL OR s.outcome = 'in-doubt')\(doubts)) AS is_doubtful,
              EXISTS (SELECT FROM yardmaster.debt d WHERE d.serial = n.serial)
                OR EXISTS (SELECT FROM yardmaster.owed d WHERE d.rollout = n.rollout
                  AND d.vehicle = n.vehicle) AS owes
            FROM yardmaster.execution n
            WHERE n.rollout = p_rollout AND n.beginning = p_beginning
              AND n.wave <= r.wave AND n.state <> 'ended') AS o
          WHERE e.rollout = p_rollout AND e.beginning = p_beginning
            AND e.vehicle = o.vehicle;
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
    }
}
