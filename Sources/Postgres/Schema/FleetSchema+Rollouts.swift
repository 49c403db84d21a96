extension FleetSchema {
    /// One rollout over all gateways: its beginning, its open acts and debts, and people's
    /// commands.
    ///
    /// A transaction that locks a rollout and a module locks the rollout first. Each function is
    /// one statement to its caller; inside, every statement sees what was committed before it.
    static let rollouts = Migration(
        version: 3,
        oldestReader: 3,
        statements: """
            CREATE FUNCTION yardmaster.clock() RETURNS timestamptz
            LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

            ALTER TABLE yardmaster.gateway
              ADD COLUMN rollout text, ADD COLUMN beginning bigint, ADD COLUMN draining timestamptz;

            CREATE TABLE yardmaster.rollout (
              name text PRIMARY KEY,
              -- Incremented when it is begun again: earlier results no longer count.
              beginning bigint NOT NULL DEFAULT 1,
              plan text NOT NULL,
              state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished')),
              begun timestamptz NOT NULL DEFAULT clock_timestamp(),
              updated timestamptz NOT NULL DEFAULT clock_timestamp(),
              hold text CHECK (hold IN ('paused', 'aborted')),
              hold_reason text,
              hold_author text,
              hold_made timestamptz,
              -- How often it was resumed, so that each gateway notices each time.
              resumed bigint NOT NULL DEFAULT 0,
              CHECK ((hold IS NULL) = (hold_made IS NULL))
            ) WITH (fillfactor = 20);

            -- Steps that must be done once, the last attempt of each: without an outcome it is in
            -- doubt.
            CREATE TABLE yardmaster.step (
              rollout text NOT NULL,
              beginning bigint NOT NULL,
              vehicle text NOT NULL,
              digest text NOT NULL,
              ordinal integer NOT NULL,
              serial text NOT NULL,
              action text NOT NULL,
              epoch bigint NOT NULL,
              instance uuid NOT NULL,
              gateway text NOT NULL,
              begun timestamptz NOT NULL,
              outcome text CHECK (outcome IN ('done', 'failed', 'in-doubt')),
              settled timestamptz,
              author text,
              PRIMARY KEY (rollout, beginning, vehicle, digest, ordinal),
              CHECK ((outcome IS NULL) = (settled IS NULL))
            );
            CREATE INDEX step_doubt ON yardmaster.step (vehicle)
              WHERE outcome IS NULL OR outcome = 'in-doubt';

            -- Updates that were begun on a module and are not proven.
            CREATE TABLE yardmaster.debt (
              serial text PRIMARY KEY,
              vehicle text NOT NULL,
              rollout text NOT NULL,
              epoch bigint NOT NULL,
              gateway text NOT NULL,
              image text NOT NULL,
              name text NOT NULL,
              version text,
              target text NOT NULL,
              total bigint NOT NULL,
              begun timestamptz NOT NULL DEFAULT clock_timestamp()
            );
            CREATE INDEX debt_vehicle ON yardmaster.debt (vehicle);

            -- Steps of `always` that are still owed to a vehicle.
            CREATE TABLE yardmaster.owed (
              rollout text NOT NULL,
              vehicle text NOT NULL,
              digest text NOT NULL,
              ordinal integer NOT NULL,
              epoch bigint NOT NULL,
              gateway text NOT NULL,
              action text NOT NULL,
              PRIMARY KEY (rollout, vehicle, digest, ordinal)
            );
            CREATE INDEX owed_vehicle ON yardmaster.owed (vehicle);

            -- The vehicle without a name is the whole depot.
            CREATE TABLE yardmaster.inhibit (
              vehicle text PRIMARY KEY,
              reason text NOT NULL,
              expires timestamptz,
              author text NOT NULL,
              made timestamptz NOT NULL DEFAULT clock_timestamp()
            );

            -- How often a vehicle has failed on one release.
            CREATE TABLE yardmaster.failure (
              vehicle text NOT NULL,
              release text NOT NULL,
              count integer NOT NULL,
              message text NOT NULL,
              last timestamptz NOT NULL,
              PRIMARY KEY (vehicle, release)
            );

            -- What people have commanded, for later questions.
            CREATE TABLE yardmaster.said (
              number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              verb text NOT NULL,
              rollout text,
              vehicle text,
              reason text NOT NULL,
              author text NOT NULL,
              at timestamptz NOT NULL DEFAULT clock_timestamp()
            );

            -- Begins a rollout, or continues it; `p_seen` is the beginning that the caller has
            -- seen, so that only one of two gateways that begin it again at the same time succeeds.
            CREATE FUNCTION yardmaster.enter(
              p_rollout text, p_plan text, p_begins boolean, p_seen bigint, p_instance uuid
            ) RETURNS TABLE (o_beginning bigint, o_plan text)
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE r yardmaster.rollout; BEGIN
              INSERT INTO yardmaster.rollout AS n (name, plan) VALUES (p_rollout, p_plan)
              ON CONFLICT (name) DO NOTHING;
              SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
              IF p_begins AND r.beginning = p_seen THEN
                UPDATE yardmaster.rollout n SET beginning = n.beginning + 1, plan = p_plan,
                  state = 'running', begun = yardmaster.clock(), updated = yardmaster.clock(),
                  hold = NULL, hold_reason = NULL, hold_author = NULL, hold_made = NULL
                WHERE n.name = p_rollout RETURNING * INTO r;
              END IF;
              UPDATE yardmaster.gateway g
              SET rollout = r.name, beginning = r.beginning, draining = NULL
              WHERE g.instance = p_instance;
              RETURN QUERY SELECT r.beginning, r.plan;
            END $yardmaster$;

            -- Grants the right to a module, unless people or the rollout's state prevent it.
            CREATE FUNCTION yardmaster.claim(
              p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
              p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
              p_paying boolean, p_release text, p_limit integer
            ) RETURNS TABLE (
              word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text
            )
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE
              r yardmaster.rollout; i yardmaster.inhibit; f yardmaster.failure; h record; m record;
            BEGIN
              IF p_beginning > 0 THEN
                SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
                IF NOT FOUND OR r.beginning <> p_beginning THEN
                  word := 'replaced'; RETURN NEXT; RETURN;
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
                IF FOUND THEN word := 'granted'; o_generation := h.generation; END IF;
              END IF;
              RETURN NEXT;
            END $yardmaster$;

            -- Records the next act of the holder of the right, and answers whether it is allowed.
            CREATE FUNCTION yardmaster.intend(
              p_serial text, p_epoch bigint, p_holder uuid, p_gateway text, p_rollout text,
              p_beginning bigint, p_vehicle text, p_digest text, p_ordinal integer, p_effect text,
              p_action text, p_paying boolean, p_debt text[], p_owed text[], p_ordinals integer[],
              p_actions text[]
            ) RETURNS TABLE (word text, a text, b text, c text, d text)
            LANGUAGE plpgsql AS $yardmaster$
            DECLARE
              s yardmaster.step; i yardmaster.inhibit; ends timestamptz; began bigint;
            BEGIN
              SELECT n.expires INTO ends FROM yardmaster.module n
              WHERE n.serial = p_serial AND n.epoch = p_epoch AND n.holder = p_holder FOR UPDATE;
              IF NOT FOUND OR ends <= yardmaster.clock() THEN
                word := 'fenced'; RETURN NEXT; RETURN;
              END IF;
              IF NOT p_paying THEN
                SELECT * INTO i FROM yardmaster.inhibit n
                WHERE n.vehicle IN (p_vehicle, '')
                  AND (n.expires IS NULL OR n.expires > yardmaster.clock())
                ORDER BY n.vehicle DESC LIMIT 1;
                IF FOUND THEN
                  word := 'inhibited'; a := i.vehicle; b := i.reason; c := i.author;
                  d := (extract(epoch FROM i.expires) * 1000)::bigint::text;
                  RETURN NEXT; RETURN;
                END IF;
              END IF;
              began := coalesce(p_beginning,
                (SELECT n.beginning FROM yardmaster.rollout n WHERE n.name = p_rollout), 0);
              IF p_effect = 'once' THEN
                SELECT * INTO s FROM yardmaster.step n
                WHERE n.rollout = p_rollout AND n.beginning = began AND n.vehicle = p_vehicle
                  AND n.digest = p_digest AND n.ordinal = p_ordinal FOR UPDATE;
                IF FOUND AND s.outcome = 'done' THEN
                  word := 'done'; a := s.gateway; RETURN NEXT; RETURN;
                END IF;
                -- The same request again is allowed: its first answer may have been lost.
                IF FOUND AND coalesce(s.outcome, 'in-doubt') = 'in-doubt'
                  AND NOT (s.outcome IS NULL AND s.instance = p_holder AND s.epoch = p_epoch)
                THEN
                  word := 'doubt'; a := s.gateway; RETURN NEXT; RETURN;
                END IF;
                INSERT INTO yardmaster.step AS n (rollout, beginning, vehicle, digest, ordinal,
                  serial, action, epoch, instance, gateway, begun)
                VALUES (p_rollout, began, p_vehicle, p_digest, p_ordinal, p_serial, p_action,
                  p_epoch, p_holder, p_gateway, yardmaster.clock())
                ON CONFLICT (rollout, beginning, vehicle, digest, ordinal) DO UPDATE SET
                  serial = excluded.serial, epoch = excluded.epoch, instance = excluded.instance,
                  gateway = excluded.gateway, begun = excluded.begun, outcome = NULL,
                  settled = NULL, author = NULL;
              END IF;
              IF p_debt IS NOT NULL THEN
                INSERT INTO yardmaster.debt AS n (serial, vehicle, rollout, epoch, gateway, image,
                  name, version, target, total)
                VALUES (p_serial, p_vehicle, p_rollout, p_epoch, p_gateway, p_debt[1], p_debt[2],
                  p_debt[3], p_debt[4], p_debt[5]::bigint)
                ON CONFLICT (serial) DO UPDATE SET
                  vehicle = excluded.vehicle, rollout = excluded.rollout, epoch = excluded.epoch,
                  gateway = excluded.gateway, image = excluded.image, name = excluded.name,
                  version = excluded.version, target = excluded.target, total = excluded.total,
                  begun = excluded.begun;
              END IF;
              INSERT INTO yardmaster.owed AS n
                (rollout, vehicle, digest, ordinal, epoch, gateway, action)
              SELECT p_rollout, p_vehicle, o.digest, o.ordinal, p_epoch, p_gateway, o.action
              FROM unnest(p_owed, p_ordinals, p_actions) AS o(digest, ordinal, action)
              ON CONFLICT (rollout, vehicle, digest, ordinal) DO UPDATE SET
                epoch = excluded.epoch, gateway = excluded.gateway;
              word := 'granted'; RETURN NEXT;
            END $yardmaster$;
            """
    )
}
