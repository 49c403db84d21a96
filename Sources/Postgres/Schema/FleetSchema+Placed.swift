extension FleetSchema {
    /// The choice between gateways that hear the same vehicle.
    ///
    /// It never decides who may touch a module. Older programs call the older function, for which nothing is compared.
    static let placed = Migration(
        version: 11,
        oldestReader: 4,
        statements: """
            -- How well each gateway hears the vehicles of a rollout, and how often attempts failed there.
            CREATE TABLE yardmaster.hearing (
              rollout text NOT NULL,
              vehicle text NOT NULL,
              gateway text NOT NULL,
              beginning bigint NOT NULL,
              -- In dBm; null when it is not heard any more.
              signal integer,
              -- Attempts that failed on the radio here since the vehicle's last verdict.
              failures integer NOT NULL DEFAULT 0,
              at timestamptz NOT NULL DEFAULT yardmaster.clock(),
              PRIMARY KEY (rollout, vehicle, gateway)
            ) WITH (fillfactor = 70);
            CREATE INDEX hearing_failures ON yardmaster.hearing (vehicle) WHERE failures > 0;

            -- The gateway that the vehicle is left to, and until when; then any gateway may take it.
            ALTER TABLE yardmaster.execution
              ADD COLUMN favoured text, ADD COLUMN favoured_until timestamptz;
            CREATE INDEX execution_favoured ON yardmaster.execution (rollout, beginning, favoured)
              WHERE favoured IS NOT NULL;

            -- In dBm: a failed attempt counts as much as a signal of a hundredth of the power.
            CREATE FUNCTION yardmaster.strength(p_signal integer, p_failures integer)
            RETURNS integer LANGUAGE sql IMMUTABLE AS $yardmaster$
              SELECT coalesce(p_signal, -200) - 20 * p_failures
            $yardmaster$;

            -- Gateways that are at work on the vehicle's rollout and hear it clearly better than this one;
            -- those with a free link first.
            CREATE FUNCTION yardmaster.nearer(
              p_rollout text, p_beginning bigint, p_vehicle text, p_gateway text, p_strength integer
            ) RETURNS TABLE (o_gateway text, o_strength integer, o_is_free boolean)
            LANGUAGE sql VOLATILE AS $yardmaster$
              SELECT * FROM (
                SELECT h.gateway, yardmaster.strength(h.signal, h.failures) AS strength,
                  (SELECT count(*) FROM yardmaster.execution e
                    WHERE e.instance = g.instance AND e.state = 'claimed')
                    < greatest(g.links, 1) AS is_free
                FROM yardmaster.hearing h JOIN yardmaster.gateway g ON g.name = h.gateway
                  AND g.rollout = h.rollout AND g.beginning = h.beginning AND g.gone IS NULL
                  AND g.draining IS NULL AND NOT g.drain AND h.at >= g.since
                  AND g.heard > yardmaster.clock() - interval '45 seconds'
                WHERE h.rollout = p_rollout AND h.beginning = p_beginning
                  AND h.vehicle = p_vehicle AND h.gateway <> p_gateway AND h.signal IS NOT NULL
              ) AS other
              WHERE other.strength >= p_strength + 6
              ORDER BY other.is_free DESC, other.strength DESC, other.gateway
            $yardmaster$;

            -- The gateway that the vehicle is left to, and for how long; no row when this gateway may have it.
            -- A vehicle is left to one gateway only, and only once until somebody has worked on it again: so it
            -- waits no longer than that, whatever gateways hear meanwhile.
            CREATE FUNCTION yardmaster.place(
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

            -- As before, after the choice between the gateways that hear the vehicle.
            CREATE FUNCTION yardmaster.claim(
              p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
              p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
              p_paying boolean, p_release text, p_limit integer, p_partial boolean,
              p_gateway text, p_signal integer, p_has_others boolean
            ) RETURNS TABLE (
              word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text, e text
            )
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE r yardmaster.rollout; x yardmaster.execution; better record; BEGIN
              IF p_beginning > 0 AND NOT p_paying AND NOT p_partial THEN
                SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
                SELECT * INTO x FROM yardmaster.execution n
                WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                  AND n.vehicle = p_vehicle FOR UPDATE;
                -- A hold, another beginning and a wave that has not begun are answered first.
                IF r.beginning = p_beginning AND r.hold IS NULL AND x.wave <= r.wave THEN
                  SELECT * INTO better FROM yardmaster.place(x, p_gateway, p_signal, p_has_others);
                  IF better.o_gateway IS NOT NULL THEN
                    word := 'nearer'; a := better.o_gateway; b := better.o_left::text;
                    RETURN NEXT; RETURN;
                  END IF;
                END IF;
              END IF;
              RETURN QUERY SELECT * FROM yardmaster.claim(p_serial, p_holder, p_rollout, p_vehicle,
                p_length, p_wait, p_known, p_generation, p_beginning, p_paying, p_release, p_limit,
                p_partial);
            END $yardmaster$;

            -- An attempt under this right failed on the radio. Returns how many attempts have failed so far on all
            -- gateways, and which one tries next if it is another one: the more failed here, the longer its time.
            CREATE FUNCTION yardmaster.wear(
              p_serial text, p_epoch bigint, p_holder uuid, p_rollout text, p_beginning bigint,
              p_vehicle text, p_gateway text, p_signal integer, p_is_lost boolean
            ) RETURNS TABLE (o_failures bigint, o_gateway text)
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE own yardmaster.hearing; better record; BEGIN
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

            -- Once work begins, the vehicle is left to no gateway any more; once it has ended, failures are forgotten.
            CREATE FUNCTION yardmaster.settle_places() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              NEW.favoured := NULL;
              NEW.favoured_until := NULL;
              IF NEW.state = 'ended' THEN
                UPDATE yardmaster.hearing h SET failures = 0
                WHERE h.rollout = NEW.rollout AND h.vehicle = NEW.vehicle AND h.failures > 0;
              END IF;
              RETURN NEW;
            END $yardmaster$;
            CREATE TRIGGER settle_places BEFORE UPDATE OF state ON yardmaster.execution
            FOR EACH ROW WHEN (NEW.state <> 'queued' AND OLD.state IS DISTINCT FROM NEW.state)
            EXECUTE FUNCTION yardmaster.settle_places();
            """
    )
}
