extension FleetSchema {
    /// The choice between gateways that hear the same vehicle.
    ///
    /// It never decides who may touch a module.
    static let places = """
        -- In dBm: a failed attempt counts as much as a signal of a hundredth of the power.
        CREATE OR REPLACE FUNCTION yardmaster.strength(p_signal integer, p_failures integer)
        RETURNS integer LANGUAGE sql IMMUTABLE AS $yardmaster$
          SELECT coalesce(p_signal, -200) - 20 * p_failures
        $yardmaster$;

        -- Gateways that are at work on the vehicle's rollout and hear it clearly better than this one;
        -- those with a free link first.
        CREATE OR REPLACE FUNCTION yardmaster.nearer(
          p_rollout text, p_beginning bigint, p_vehicle text, p_gateway text, p_strength integer
        ) RETURNS TABLE (o_gateway text, o_strength integer, o_is_free boolean)
        LANGUAGE sql VOLATILE AS $yardmaster$
          SELECT * FROM (
            SELECT h.gateway, yardmaster.strength(h.signal, h.failures) AS strength,
              (SELECT count(*) FROM yardmaster.execution e
                WHERE e.instance = g.instance AND e.state = 'claimed')
                < greatest(g.links, 1) AS is_free
            -- The few that hear it, each by its name, and not all that are at work (which `OFFSET 0` ensures).
            FROM yardmaster.hearing h CROSS JOIN LATERAL (SELECT * FROM yardmaster.gateway n
              WHERE n.name = h.gateway AND n.gone IS NULL OFFSET 0) AS g
            WHERE g.rollout = h.rollout AND g.beginning = h.beginning
              AND g.draining IS NULL AND NOT g.drain AND h.at >= g.since
              AND g.heard > yardmaster.clock() - interval '45 seconds' AND h.rollout = p_rollout AND h.beginning = p_beginning
              AND h.vehicle = p_vehicle AND h.gateway <> p_gateway AND h.signal IS NOT NULL
          ) AS other
          WHERE other.strength >= p_strength + 6
          ORDER BY other.is_free DESC, other.strength DESC, other.gateway
        $yardmaster$;

        -- The gateway that the vehicle is left to, and for how long; no row when this gateway may have it.
        -- A vehicle is left to one gateway only, and only once until somebody has worked on it again: so it
        -- waits no longer than that, whatever gateways hear meanwhile.
        CREATE OR REPLACE FUNCTION yardmaster.place(
          x yardmaster.execution, p_gateway text, p_signal integer, p_has_others boolean
        ) RETURNS TABLE (o_gateway text, o_left bigint)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE
          better record; own integer; ends timestamptz; moment timestamptz := yardmaster.clock();
        BEGIN
          -- A vehicle that is begun unheard is not compared.
          IF p_signal IS NULL OR x.state <> 'queued' OR x.favoured = p_gateway
            OR x.favoured_until <= moment
          THEN RETURN; END IF;
          own := coalesce((SELECT h.failures FROM yardmaster.hearing h
            WHERE h.rollout = x.rollout AND h.beginning = x.beginning
              AND h.vehicle = x.vehicle AND h.gateway = p_gateway), 0);
          SELECT * INTO better FROM yardmaster.nearer(x.rollout, x.beginning, x.vehicle, p_gateway,
            yardmaster.strength(p_signal, own)) LIMIT 1;
          -- A gateway that has nothing else to do does not wait for one without a free link, unless its
          -- own attempts failed: it would use up all attempts.
          IF NOT FOUND OR own = 0 AND NOT better.o_is_free AND NOT p_has_others
          THEN RETURN; END IF;
          ends := coalesce(x.favoured_until, moment + interval '15 seconds');
          IF x.favoured IS NULL THEN
            UPDATE yardmaster.execution e
            SET favoured = better.o_gateway, favoured_until = ends
            WHERE e.rollout = x.rollout AND e.beginning = x.beginning AND e.vehicle = x.vehicle;
          END IF;
          o_gateway := better.o_gateway;
          o_left := (extract(epoch FROM ends - moment) * 1000000)::bigint;
          RETURN NEXT;
        END $yardmaster$;

        -- An attempt under this right failed on the radio. Returns how many attempts have failed so far on all
        -- gateways, and which one tries next if it is another one: the more failed here, the longer its time.
        CREATE OR REPLACE FUNCTION yardmaster.wear(
          p_serial text, p_epoch bigint, p_holder uuid, p_rollout text, p_beginning bigint,
          p_vehicle text, p_gateway text, p_signal integer, p_is_lost boolean
        ) RETURNS TABLE (o_failures bigint, o_gateway text)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE own yardmaster.hearing; better record; BEGIN
          PERFORM yardmaster.must_be(p_holder, p_gateway);
          PERFORM FROM yardmaster.rollout r WHERE r.name = p_rollout FOR UPDATE;
          PERFORM FROM yardmaster.module m WHERE m.serial = p_serial AND m.epoch = p_epoch
            AND m.holder = p_holder;
          IF NOT FOUND THEN RETURN; END IF;
          INSERT INTO yardmaster.hearing AS h
            (rollout, vehicle, gateway, beginning, signal, failures, at)
          VALUES (p_rollout, p_vehicle, p_gateway, p_beginning,
            CASE WHEN p_is_lost THEN NULL ELSE p_signal END, 1, yardmaster.clock())
          ON CONFLICT (rollout, vehicle, gateway) DO UPDATE SET
            failures = CASE WHEN h.beginning = excluded.beginning THEN h.failures ELSE 0 END + 1,
            signal = CASE WHEN p_is_lost THEN NULL ELSE coalesce(excluded.signal, h.signal) END,
            beginning = excluded.beginning, at = excluded.at
          RETURNING * INTO own;
          SELECT sum(h.failures) INTO o_failures FROM yardmaster.hearing h
          WHERE h.rollout = p_rollout AND h.beginning = p_beginning AND h.vehicle = p_vehicle;
          SELECT * INTO better FROM yardmaster.nearer(p_rollout, p_beginning, p_vehicle, p_gateway,
            yardmaster.strength(own.signal, own.failures)) LIMIT 1;
          -- One that is not heard here any more is left to another gateway once.
          IF FOUND AND (own.failures = 1 OR NOT p_is_lost) THEN
            o_gateway := better.o_gateway;
            UPDATE yardmaster.execution e SET favoured = better.o_gateway,
              favoured_until = yardmaster.clock()
                + interval '1 minute' * 2 ^ least(own.failures - 1, 3)
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning
              AND e.vehicle = p_vehicle;
          END IF;
          RETURN NEXT;
        END $yardmaster$;
        """
}
