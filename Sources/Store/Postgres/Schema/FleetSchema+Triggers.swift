extension FleetSchema {
    /// The functions of the triggers.
    static let triggered = """
        CREATE OR REPLACE FUNCTION yardmaster.keep_epoch() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          IF TG_OP IN ('DELETE', 'TRUNCATE')
            OR TG_OP = 'UPDATE' AND (NEW.epoch < OLD.epoch OR NEW.serial <> OLD.serial)
          THEN
            RAISE EXCEPTION 'the epoch of a module never goes back'
              USING ERRCODE = 'check_violation';
          END IF;
          -- A number that is used up would leave no right to grant.
          IF NEW.epoch > (CASE TG_OP WHEN 'UPDATE' THEN OLD.epoch ELSE 0 END) + 1000000 THEN
            RAISE EXCEPTION 'the epoch of a module does not jump to %', NEW.epoch
              USING ERRCODE = 'check_violation';
          END IF;
          IF TG_OP = 'UPDATE' AND NEW.epoch <> OLD.epoch THEN
            NEW.since := yardmaster.clock();
            NEW.doing := NULL; NEW.acknowledged := NULL; NEW.total := NULL;
          END IF;
          RETURN NEW;
        END $yardmaster$;

        -- A hold is lifted by `resume`, which counts, or ends with its beginning; an abort is for good. Waves
        -- are begun one by one, each after the one before it has ended.
        CREATE OR REPLACE FUNCTION yardmaster.keep_order() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          IF NEW.beginning <> OLD.beginning THEN RETURN NEW; END IF;
          IF OLD.hold = 'recalled' AND NEW.hold IS DISTINCT FROM 'recalled'
            OR OLD.hold = 'aborted' AND coalesce(NEW.hold, '') NOT IN ('aborted', 'recalled')
            OR OLD.hold IS NOT NULL AND NEW.hold IS NULL AND NEW.resumed <= OLD.resumed
          THEN
            RAISE EXCEPTION 'only `resume` lifts a pause, and nothing lifts an abort'
              USING ERRCODE = 'check_violation';
          END IF;
          IF NEW.wave > OLD.wave THEN
            IF NEW.wave > OLD.wave + 1 OR OLD.wave_ended IS NULL THEN
              RAISE EXCEPTION 'a wave begins when the one before it has ended'
                USING ERRCODE = 'check_violation';
            END IF;
            NEW.wave_ended := NULL; NEW.checker := NULL;
          END IF;
          RETURN NEW;
        END $yardmaster$;

        -- Who speaks is what the server says.
        CREATE OR REPLACE FUNCTION yardmaster.note_login() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          NEW.login := session_user;
          RETURN NEW;
        END $yardmaster$;

        -- A standby that took over lacks the last moments, and with them what gateways did that were
        -- at work, and the sign-in of others: any gateway of the last month may have signed in then.
        -- A backup may lack any length of time.
        CREATE OR REPLACE FUNCTION yardmaster.await_gateways() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ DECLARE latest timestamptz; BEGIN
          SELECT max(g.heard) INTO latest FROM yardmaster.gateway g;
          INSERT INTO yardmaster.awaited AS a (instance, gateway, was_at_work)
          SELECT DISTINCT ON (g.name) g.instance, g.name, NEW.generation <> OLD.generation
            OR g.gone IS NULL AND g.heard > latest - interval '1 hour'
          FROM yardmaster.gateway g
          WHERE (NEW.generation <> OLD.generation OR NEW.timeline <> OLD.timeline)
            AND g.retells AND g.heard > latest - interval '30 days'
          ORDER BY g.name, g.heard DESC
          ON CONFLICT (instance) DO UPDATE SET
            was_at_work = a.was_at_work OR excluded.was_at_work;
          RETURN NULL;
        END $yardmaster$;

        -- A verdict stays while its vehicle is worked on once more, until its outcome is removed, and so
        -- does its time.
        CREATE OR REPLACE FUNCTION yardmaster.note_since() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          NEW.since := yardmaster.clock();
          RETURN NEW;
        END $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.note_run() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          IF TG_OP = 'INSERT' OR NEW.gateway <> OLD.gateway THEN
            NEW.run := (SELECT r.number FROM yardmaster.run r WHERE r.gateway = NEW.gateway
              ORDER BY r.id DESC LIMIT 1);
          END IF;
          RETURN NEW;
        END $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.note_image() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          NEW.acknowledged := 0; NEW.in_bootloader := false;
          NEW.seen_gateway := NULL; NEW.seen_run := NULL; NEW.seen_epoch := 0;
          RETURN NEW;
        END $yardmaster$;

        -- Once work begins, the vehicle is left to no gateway any more; once it has ended, failures are forgotten.
        CREATE OR REPLACE FUNCTION yardmaster.settle_places() RETURNS trigger
        LANGUAGE plpgsql AS $yardmaster$ BEGIN
          NEW.favoured := NULL;
          NEW.favoured_until := NULL;
          IF NEW.state = 'ended' THEN
            UPDATE yardmaster.hearing h SET failures = 0
            WHERE h.rollout = NEW.rollout AND h.vehicle = NEW.vehicle AND h.failures > 0;
          END IF;
          RETURN NEW;
        END $yardmaster$;
        """

    /// The triggers of the tables, which hold for every program that writes them.
    static let triggers = """
        CREATE TRIGGER keep_epoch BEFORE INSERT OR UPDATE OR DELETE ON yardmaster.module
        FOR EACH ROW EXECUTE FUNCTION yardmaster.keep_epoch();

        CREATE TRIGGER keep_epochs BEFORE TRUNCATE ON yardmaster.module
        FOR EACH STATEMENT EXECUTE FUNCTION yardmaster.keep_epoch();

        CREATE TRIGGER keep_order BEFORE UPDATE OF hold, wave ON yardmaster.rollout
        FOR EACH ROW EXECUTE FUNCTION yardmaster.keep_order();

        CREATE TRIGGER note_login BEFORE INSERT ON yardmaster.said
        FOR EACH ROW EXECUTE FUNCTION yardmaster.note_login();

        CREATE TRIGGER await_gateways AFTER UPDATE ON yardmaster.history
        FOR EACH ROW EXECUTE FUNCTION yardmaster.await_gateways();

        CREATE TRIGGER note_since BEFORE UPDATE ON yardmaster.execution FOR EACH ROW
        WHEN (OLD.outcome IS DISTINCT FROM NEW.outcome
          OR (OLD.state <> NEW.state AND NEW.outcome IS NULL))
        EXECUTE FUNCTION yardmaster.note_since();

        CREATE TRIGGER note_run BEFORE INSERT OR UPDATE OF gateway ON yardmaster.owed
        FOR EACH ROW EXECUTE FUNCTION yardmaster.note_run();

        CREATE TRIGGER note_run BEFORE INSERT OR UPDATE OF gateway ON yardmaster.debt
        FOR EACH ROW EXECUTE FUNCTION yardmaster.note_run();

        CREATE TRIGGER note_image BEFORE UPDATE OF image ON yardmaster.debt FOR EACH ROW
        WHEN (OLD.image <> NEW.image OR OLD.target <> NEW.target)
        EXECUTE FUNCTION yardmaster.note_image();

        CREATE TRIGGER settle_places BEFORE UPDATE OF state ON yardmaster.execution
        FOR EACH ROW WHEN (NEW.state <> 'queued' AND OLD.state IS DISTINCT FROM NEW.state)
        EXECUTE FUNCTION yardmaster.settle_places();
        """
}
