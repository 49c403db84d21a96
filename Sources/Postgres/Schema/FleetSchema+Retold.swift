extension FleetSchema {
    /// Gateways report again what a database that went back in time has lost; before that, no right
    /// is granted.
    ///
    /// Older programs report nothing twice: no one waits for them, and they get no rights
    /// meanwhile.
    static let retold = Migration(
        version: 7,
        oldestReader: 4,
        statements: """
            -- Whether this gateway's process reports again what it reported to another history.
            ALTER TABLE yardmaster.gateway ADD COLUMN retells boolean NOT NULL DEFAULT false,
              -- Figures of the current run, from its last sign of life.
              ADD COLUMN adapters text[],
              ADD COLUMN links integer,
              ADD COLUMN rights_lost bigint NOT NULL DEFAULT 0,
              ADD COLUMN waited_ms bigint NOT NULL DEFAULT 0,
              ADD COLUMN untold bigint NOT NULL DEFAULT 0;

            -- Processes of gateways that may have done something that this database has lost.
            CREATE TABLE yardmaster.awaited (
              instance uuid PRIMARY KEY,
              gateway text NOT NULL,
              since timestamptz NOT NULL DEFAULT yardmaster.clock()
            );

            -- A standby that took over lacks the last moments: gateways that were at work then are
            -- awaited. A backup may lack any length of time: all gateways at work in the month
            -- before it are awaited.
            CREATE FUNCTION yardmaster.await_gateways() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ DECLARE latest timestamptz; BEGIN
              SELECT max(g.heard) INTO latest FROM yardmaster.gateway g;
              INSERT INTO yardmaster.awaited (instance, gateway)
              SELECT DISTINCT ON (g.name) g.instance, g.name FROM yardmaster.gateway g
              WHERE g.retells AND (
                NEW.generation <> OLD.generation AND g.heard > latest - interval '30 days'
                OR NEW.timeline <> OLD.timeline AND g.gone IS NULL
                  AND g.heard > latest - interval '1 hour')
              ORDER BY g.name, g.heard DESC
              ON CONFLICT (instance) DO NOTHING;
              RETURN NULL;
            END $yardmaster$;
            CREATE TRIGGER await_gateways AFTER UPDATE ON yardmaster.history
            FOR EACH ROW EXECUTE FUNCTION yardmaster.await_gateways();

            CREATE OR REPLACE FUNCTION yardmaster.claim(
              p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
              p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
              p_paying boolean, p_release text, p_limit integer, p_partial boolean
            ) RETURNS TABLE (
              word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text, e text
            )
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              IF EXISTS (SELECT FROM yardmaster.awaited) THEN
                word := 'refused'; RETURN NEXT; RETURN;
              END IF;
              IF p_beginning > 0 AND NOT p_paying
                AND EXISTS (SELECT FROM yardmaster.rollout n
                  WHERE n.name = p_rollout AND n.beginning = p_beginning)
                AND NOT EXISTS (SELECT FROM yardmaster.execution n
                  WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                    AND n.vehicle = p_vehicle AND n.serial = p_serial)
              THEN
                word := 'unlisted'; RETURN NEXT; RETURN;
              END IF;
              RETURN QUERY SELECT * FROM yardmaster.claim_listed(p_serial, p_holder, p_rollout,
                p_vehicle, p_length, p_wait, p_known, p_generation, p_beginning, p_paying,
                p_release, p_limit, p_partial);
            END $yardmaster$;

            ALTER FUNCTION yardmaster.settle(text, bigint, uuid, text, text, text, bigint, text, text,
              text, text, text, bigint, boolean, integer, integer) RENAME TO settle_granted;

            -- A grant that this database has lost is recorded first: no other gateway has had the
            -- right since.
            CREATE FUNCTION yardmaster.settle(
              p_serial text, p_epoch bigint, p_holder uuid, p_gateway text, p_rollout text,
              p_vehicle text, p_run bigint, p_outcome text, p_failure text, p_sentence text,
              p_version text, p_release text, p_beginning bigint, p_touched boolean,
              p_attempted integer, p_failed integer
            ) RETURNS boolean LANGUAGE plpgsql AS $yardmaster$ BEGIN
              PERFORM FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
              INSERT INTO yardmaster.module AS m (serial, epoch, holder, rollout, vehicle, expires)
              VALUES (p_serial, p_epoch, p_holder, p_rollout, p_vehicle, yardmaster.clock())
              ON CONFLICT (serial) DO UPDATE SET epoch = excluded.epoch, holder = excluded.holder,
                rollout = excluded.rollout, vehicle = excluded.vehicle, expires = excluded.expires
              WHERE m.epoch < excluded.epoch AND m.holder IS NULL;
              RETURN yardmaster.settle_granted(p_serial, p_epoch, p_holder, p_gateway, p_rollout,
                p_vehicle, p_run, p_outcome, p_failure, p_sentence, p_version, p_release,
                p_beginning, p_touched, p_attempted, p_failed);
            END $yardmaster$;
            """
    )
}
