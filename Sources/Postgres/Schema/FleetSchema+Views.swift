extension FleetSchema {
    /// What `status`, `history` and the like need beyond what gateways need: all runs, the shown part of
    /// a plan, since when a state holds, and the progress of work.
    ///
    /// Older programs leave all of it empty; their work is shown without it.
    static let views = Migration(
        version: 10,
        oldestReader: 4,
        statements: """
            -- Each start of the program is one run of its gateway. `id` is the order in which runs began.
            CREATE TABLE yardmaster.run (
              id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              instance uuid NOT NULL UNIQUE,
              gateway text NOT NULL,
              number bigint NOT NULL CHECK (number > 0),
              rollout text NOT NULL,
              beginning bigint NOT NULL,
              plan text NOT NULL,
              is_order boolean NOT NULL,
              seed text,
              -- By the gateway's clock, as in its journal; the others by the server's.
              began timestamptz NOT NULL,
              noted timestamptz NOT NULL DEFAULT yardmaster.clock(),
              ended timestamptz,
              exit_code integer,
              reason text,
              -- The number of vehicles by outcome, as the run reported it; JSON.
              counts text,
              closed timestamptz,
              CHECK ((ended IS NULL) = (reason IS NULL) AND (ended IS NULL) = (closed IS NULL))
            );
            CREATE INDEX run_gateway ON yardmaster.run (gateway, id);
            CREATE INDEX run_rollout ON yardmaster.run (rollout, id);

            -- The shown part of a plan, from the run that began last; JSON.
            CREATE TABLE yardmaster.plan (
              digest text PRIMARY KEY,
              rollout text NOT NULL,
              quarantine_after integer,
              view text NOT NULL,
              mark text NOT NULL,
              brought timestamptz NOT NULL DEFAULT yardmaster.clock()
            );

            -- Since when it is held, and the last progress that its holder reported.
            ALTER TABLE yardmaster.module
              ADD COLUMN since timestamptz,
              ADD COLUMN doing text,
              ADD COLUMN acknowledged bigint,
              ADD COLUMN total bigint;
            ALTER TABLE yardmaster.module ALTER COLUMN since SET DEFAULT yardmaster.clock();

            CREATE OR REPLACE FUNCTION yardmaster.keep_epoch() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              IF TG_OP = 'DELETE' OR NEW.epoch < OLD.epoch OR NEW.serial <> OLD.serial THEN
                RAISE EXCEPTION 'the epoch of a module never goes back'
                  USING ERRCODE = 'check_violation';
              END IF;
              IF NEW.epoch <> OLD.epoch THEN
                NEW.since := yardmaster.clock();
                NEW.doing := NULL; NEW.acknowledged := NULL; NEW.total := NULL;
              END IF;
              RETURN NEW;
            END $yardmaster$;

            -- Since when a vehicle is in its state. A verdict stays while its vehicle is worked on once more,
            -- until its outcome is removed, and so does its time.
            ALTER TABLE yardmaster.execution ADD COLUMN since timestamptz;
            ALTER TABLE yardmaster.execution ALTER COLUMN since SET DEFAULT yardmaster.clock();
            CREATE FUNCTION yardmaster.note_since() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              NEW.since := yardmaster.clock();
              RETURN NEW;
            END $yardmaster$;
            CREATE TRIGGER note_since BEFORE UPDATE ON yardmaster.execution FOR EACH ROW
            WHEN (OLD.outcome IS DISTINCT FROM NEW.outcome
              OR (OLD.state <> NEW.state AND NEW.outcome IS NULL))
            EXECUTE FUNCTION yardmaster.note_since();

            -- The run that began it; for a debt also the progress, and who saw the module last.
            ALTER TABLE yardmaster.owed ADD COLUMN run bigint;
            ALTER TABLE yardmaster.debt
              ADD COLUMN run bigint,
              ADD COLUMN acknowledged bigint NOT NULL DEFAULT 0,
              ADD COLUMN in_bootloader boolean NOT NULL DEFAULT false,
              ADD COLUMN seen_gateway text,
              ADD COLUMN seen_run bigint,
              ADD COLUMN seen_epoch bigint NOT NULL DEFAULT 0;
            CREATE FUNCTION yardmaster.note_run() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              IF TG_OP = 'INSERT' OR NEW.gateway <> OLD.gateway THEN
                NEW.run := (SELECT r.number FROM yardmaster.run r WHERE r.gateway = NEW.gateway
                  ORDER BY r.id DESC LIMIT 1);
              END IF;
              RETURN NEW;
            END $yardmaster$;
            CREATE TRIGGER note_run BEFORE INSERT OR UPDATE OF gateway ON yardmaster.owed
            FOR EACH ROW EXECUTE FUNCTION yardmaster.note_run();
            CREATE TRIGGER note_run BEFORE INSERT OR UPDATE OF gateway ON yardmaster.debt
            FOR EACH ROW EXECUTE FUNCTION yardmaster.note_run();
            CREATE FUNCTION yardmaster.note_image() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              NEW.acknowledged := 0; NEW.in_bootloader := false;
              NEW.seen_gateway := NULL; NEW.seen_run := NULL; NEW.seen_epoch := 0;
              RETURN NEW;
            END $yardmaster$;
            CREATE TRIGGER note_image BEFORE UPDATE OF image ON yardmaster.debt FOR EACH ROW
            WHEN (OLD.image <> NEW.image OR OLD.target <> NEW.target)
            EXECUTE FUNCTION yardmaster.note_image();

            -- A doubt stays until a person answers it, whichever rollout began it.
            CREATE FUNCTION yardmaster.is_doubtful(p_vehicle text) RETURNS boolean
            LANGUAGE sql STABLE AS $yardmaster$
              SELECT EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = p_vehicle
                AND (s.outcome IS NULL OR s.outcome = 'in-doubt'))
            $yardmaster$;

            -- Whether a vehicle has failed on one release so often that a rollout leaves it alone.
            CREATE FUNCTION yardmaster.is_quarantined(p_vehicle text, p_plan text) RETURNS boolean
            LANGUAGE sql STABLE AS $yardmaster$
              SELECT EXISTS (SELECT FROM yardmaster.plan p JOIN yardmaster.failure f
                ON f.count >= p.quarantine_after
                WHERE p.digest = p_plan AND f.vehicle = p_vehicle)
            $yardmaster$;

            CREATE FUNCTION yardmaster.is_inhibited(p_vehicle text) RETURNS boolean
            LANGUAGE sql STABLE AS $yardmaster$
              SELECT EXISTS (SELECT FROM yardmaster.inhibit n WHERE n.vehicle IN (p_vehicle, '')
                AND (n.expires IS NULL OR n.expires > yardmaster.clock()))
            $yardmaster$;

            -- Removes the verdicts of a rollout's failed, unreachable and deferred vehicles, on all gateways;
            -- not of vehicles in doubt, inhibited, in quarantine or at work.
            CREATE FUNCTION yardmaster.retry(p_rollout text, p_author text, p_reason text)
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
    )
}
