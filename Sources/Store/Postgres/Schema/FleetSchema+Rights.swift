extension FleetSchema {
    /// The lock between the beginnings of transfers and what forbids them, recalls and servers that cancel: an
    /// arbitrary number.
    static let recallLock: Int64 = 0x5941_5245

    /// The rights to modules: grants, acts under them, and verdicts that end them.
    ///
    /// A transaction that locks a rollout and a module locks the rollout first. Each function is one statement to its
    /// caller; inside, every statement sees what was committed before it.
    static let rights = """
        -- Grants the right to a module, unless people, the state of the rollout or a gateway that hears the vehicle
        -- better prevent it.
        CREATE OR REPLACE FUNCTION yardmaster.claim(
          p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
          p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
          p_paying boolean, p_release text, p_limit integer, p_partial boolean,
          p_gateway text, p_signal integer, p_has_others boolean
        ) RETURNS TABLE (
          word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text, e text
        )
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE
          r yardmaster.rollout; i yardmaster.inhibit; f yardmaster.failure;
          x yardmaster.execution; better record; h record; owing record; flying bigint;
        BEGIN
          PERFORM yardmaster.must_be(p_holder, p_gateway);
          IF p_beginning > 0 THEN
            -- The gate's numbers stay as they are until this is decided.
            SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
            SELECT * INTO x FROM yardmaster.execution n
            WHERE n.rollout = p_rollout AND n.beginning = p_beginning
              AND n.vehicle = p_vehicle FOR UPDATE;
            -- A hold, another beginning and a wave that has not begun are answered first.
            IF NOT p_paying AND NOT p_partial AND r.beginning = p_beginning AND r.hold IS NULL
              AND x.wave <= r.wave
            THEN
              SELECT * INTO better FROM yardmaster.place(x, p_gateway, p_signal, p_has_others);
              IF better.o_gateway IS NOT NULL THEN
                word := 'nearer'; a := better.o_gateway; b := better.o_left::text;
                RETURN NEXT; RETURN;
              END IF;
            END IF;
          END IF;
          IF EXISTS (SELECT FROM yardmaster.awaited w WHERE w.was_at_work) THEN
            word := 'refused'; RETURN NEXT; RETURN;
          END IF;
          IF p_beginning > 0 THEN
            IF r.beginning IS DISTINCT FROM p_beginning THEN
              word := 'replaced'; RETURN NEXT; RETURN;
            END IF;
            -- Without its row a vehicle has no wave and no place at the gate. Debts are paid anyway.
            IF x.serial IS DISTINCT FROM p_serial AND NOT p_paying THEN
              word := 'unlisted'; RETURN NEXT; RETURN;
            END IF;
            IF x.state = 'ended' AND NOT p_paying THEN
              word := 'ended'; a := x.outcome; b := x.failure; c := x.sentence;
              d := x.version; e := x.gateway; RETURN NEXT; RETURN;
            END IF;
            SELECT * INTO i FROM yardmaster.inhibit n
            WHERE n.vehicle IN (p_vehicle, '')
              AND (n.expires IS NULL OR n.expires > yardmaster.clock())
            ORDER BY n.vehicle DESC LIMIT 1;
            IF FOUND THEN
              word := 'inhibited'; a := i.vehicle; b := i.reason; c := i.author;
              d := (extract(epoch FROM i.expires) * 1000)::bigint::text;
              e := (extract(epoch FROM i.made) * 1000)::bigint::text;
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
            IF NOT p_paying AND NOT p_partial AND x.wave > r.wave THEN
              word := 'early'; RETURN NEXT; RETURN;
            END IF;
            -- If all vehicles under way fail, none may fail after the one that trips the gate.
            -- A vehicle whose gateway vanished keeps its place until it is taken over.
            IF r.room IS NOT NULL AND NOT p_paying THEN
              SELECT count(*) INTO flying FROM yardmaster.execution n
              WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                AND n.state = 'claimed' AND n.vehicle <> p_vehicle;
              -- One that was begun, and that its gateway had to leave, may have failed already. Each is looked up by
              -- its key (which `OFFSET 0` ensures).
              SELECT count(*) AS count, count(*) FILTER (WHERE n.state = 'ended') AS over,
                min(n.vehicle) AS first INTO owing
              FROM yardmaster.debt d CROSS JOIN LATERAL (SELECT * FROM yardmaster.execution k
                WHERE k.rollout = d.rollout AND k.beginning = p_beginning
                  AND k.vehicle = d.vehicle OFFSET 0) AS n
              WHERE d.rollout = p_rollout AND d.begun >= r.begun
                AND n.state <> 'claimed' AND NOT n.counted AND n.vehicle <> p_vehicle;
              IF owing.over >= r.room THEN
                word := 'owing'; a := owing.first; RETURN NEXT; RETURN;
              END IF;
              IF flying + owing.count >= r.room THEN
                word := 'full'; a := (flying + owing.count)::text; RETURN NEXT; RETURN;
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
            IF FOUND THEN
              word := 'granted'; o_generation := h.generation;
              UPDATE yardmaster.execution n SET instance = p_holder, epoch = o_epoch,
                state = CASE WHEN n.state = 'ended' THEN n.state ELSE 'claimed' END
              WHERE n.rollout = p_rollout AND n.beginning = p_beginning
                AND n.vehicle = p_vehicle;
            END IF;
          END IF;
          RETURN NEXT;
        END $yardmaster$;

        -- Records the next act of the holder of the right, and answers whether it is allowed.
        CREATE OR REPLACE FUNCTION yardmaster.intend(
          p_serial text, p_epoch bigint, p_holder uuid, p_gateway text, p_rollout text,
          p_beginning bigint, p_vehicle text, p_digest text, p_ordinal integer, p_effect text,
          p_action text, p_paying boolean, p_debt text[], p_owed text[], p_ordinals integer[],
          p_actions text[]
        ) RETURNS TABLE (word text, a text, b text, c text, d text, e text)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE
          s yardmaster.step; i yardmaster.inhibit; k yardmaster.recall; ends timestamptz; began bigint;
        BEGIN
          PERFORM yardmaster.must_be(p_holder, p_gateway);
          SELECT n.expires INTO ends FROM yardmaster.module n
          WHERE n.serial = p_serial AND n.epoch = p_epoch AND n.holder = p_holder FOR UPDATE;
          IF NOT FOUND OR ends <= yardmaster.clock() THEN
            word := 'fenced'; RETURN NEXT; RETURN;
          END IF;
          -- Only an update that was begun is brought to rest on a vehicle that is to be left alone.
          IF NOT (p_paying AND p_effect = 'transfer') THEN
            SELECT * INTO i FROM yardmaster.inhibit n
            WHERE n.vehicle IN (p_vehicle, '')
              AND (n.expires IS NULL OR n.expires > yardmaster.clock())
            ORDER BY n.vehicle DESC LIMIT 1;
            IF FOUND THEN
              word := 'inhibited'; a := i.vehicle; b := i.reason; c := i.author;
              d := (extract(epoch FROM i.expires) * 1000)::bigint::text;
              e := (extract(epoch FROM i.made) * 1000)::bigint::text;
              RETURN NEXT; RETURN;
            END IF;
          END IF;
          IF p_debt IS NOT NULL THEN
            -- A recall waits until this is committed, and what comes after it sees it.
            PERFORM pg_advisory_xact_lock_shared(\(recallLock));
            SELECT * INTO k FROM yardmaster.recall n WHERE n.image = p_debt[1];
            IF FOUND THEN
              word := 'recalled'; a := k.image; b := k.name; c := k.reason; d := k.author;
              e := (extract(epoch FROM k.made) * 1000)::bigint::text; RETURN NEXT; RETURN;
            END IF;
            SELECT n.sentence INTO a FROM yardmaster.served n
            WHERE n.rollout = p_rollout AND n.serial = p_serial AND n.image = p_debt[1] AND NOT n.open;
            IF FOUND THEN word := 'withdrawn'; RETURN NEXT; RETURN; END IF;
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
            -- A gateway whose sign-in this database has lost may have done it.
            SELECT string_agg(DISTINCT w.gateway, ', ' ORDER BY w.gateway) INTO a
            FROM yardmaster.awaited w;
            IF a IS NOT NULL THEN word := 'awaits'; RETURN NEXT; RETURN; END IF;
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
            -- A module that runs the image already, or does not say what, leaves what was known.
            DELETE FROM yardmaster.transfer n WHERE n.serial = p_serial AND n.rollout = p_rollout
              AND n.image = p_debt[1] AND p_debt[6] <> coalesce(p_debt[3], '');
            INSERT INTO yardmaster.transfer (serial, vehicle, rollout, image, name, version, target,
              before)
            VALUES (p_serial, p_vehicle, p_rollout, p_debt[1], p_debt[2], p_debt[3], p_debt[4],
              p_debt[6])
            ON CONFLICT (serial, rollout, image) DO NOTHING;
          END IF;
          INSERT INTO yardmaster.owed AS n
            (rollout, vehicle, digest, ordinal, epoch, gateway, action)
          SELECT p_rollout, p_vehicle, o.digest, o.ordinal, p_epoch, p_gateway, o.action
          FROM unnest(p_owed, p_ordinals, p_actions) AS o(digest, ordinal, action)
          ON CONFLICT (rollout, vehicle, digest, ordinal) DO UPDATE SET
            epoch = excluded.epoch, gateway = excluded.gateway;
          word := 'granted'; RETURN NEXT;
        END $yardmaster$;

        -- Ends work: gives the right back and counts at the gate, whose numbers from before it answers. A report
        -- that arrives after another gateway had the right is an observation. It changes nothing, but no wave waits
        -- for its gateway any more.
        CREATE OR REPLACE FUNCTION yardmaster.settle(
          p_serial text, p_epoch bigint, p_holder uuid, p_gateway text, p_rollout text,
          p_vehicle text, p_run bigint, p_outcome text, p_failure text, p_sentence text,
          p_version text, p_release text, p_beginning bigint, p_attempted integer,
          p_failed integer
        ) RETURNS TABLE (o_attempted integer, o_failed integer, o_rollout yardmaster.rollout)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE
          r yardmaster.rollout; x yardmaster.execution; is_own boolean; told bigint;
          n_attempted integer; n_failed integer;
        BEGIN
          PERFORM yardmaster.must_be(p_holder, p_gateway);
          SELECT * INTO r FROM yardmaster.rollout n WHERE n.name = p_rollout FOR UPDATE;
          -- A grant that this database has lost is recorded first: it ended each earlier one from before the loss.
          INSERT INTO yardmaster.module AS m (serial, epoch, holder, rollout, vehicle, expires)
          VALUES (p_serial, p_epoch, p_holder, p_rollout, p_vehicle, yardmaster.clock())
          ON CONFLICT (serial) DO UPDATE SET epoch = excluded.epoch, holder = excluded.holder,
            rollout = excluded.rollout, vehicle = excluded.vehicle, expires = excluded.expires
          WHERE m.epoch < excluded.epoch AND (m.holder IS NULL OR EXISTS (
            SELECT FROM yardmaster.history h WHERE m.since < h.claims_after
              OR h.timeline <> substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)));
          UPDATE yardmaster.module m
          SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL
          WHERE m.serial = p_serial AND m.epoch = p_epoch AND m.holder = p_holder;
          is_own := FOUND;
          INSERT INTO yardmaster.verdict (serial, epoch, instance, gateway, rollout, vehicle,
            run, outcome, failure, sentence, version, counts)
          VALUES (p_serial, p_epoch, p_holder, p_gateway, p_rollout, p_vehicle, p_run,
            p_outcome, p_failure, p_sentence, p_version, is_own)
          ON CONFLICT (instance, serial, epoch) DO NOTHING RETURNING number INTO told;
          IF NOT is_own THEN
            INSERT INTO yardmaster.missed AS n (rollout, beginning, vehicle, instance, gateway,
              outcome, failure, sentence)
            SELECT e.rollout, e.beginning, e.vehicle, p_holder, p_gateway, p_outcome, p_failure,
              p_sentence
            FROM yardmaster.execution e
            WHERE e.rollout = p_rollout AND e.beginning = p_beginning
              AND e.vehicle = p_vehicle AND e.state <> 'ended' AND e.instance <> p_holder
            ON CONFLICT (rollout, beginning, vehicle, instance) DO UPDATE SET
              gateway = excluded.gateway, outcome = excluded.outcome,
              failure = excluded.failure, sentence = excluded.sentence;
          END IF;
          IF told IS NULL THEN RETURN; END IF;
          IF p_release IS NOT NULL THEN
            INSERT INTO yardmaster.failure AS f (vehicle, release, count, message, last)
            VALUES (p_vehicle, p_release, 1, p_sentence, yardmaster.clock())
            ON CONFLICT (vehicle, release) DO UPDATE SET count = f.count + 1,
              message = excluded.message, last = excluded.last;
          END IF;
          IF NOT is_own OR r.beginning IS DISTINCT FROM p_beginning THEN RETURN; END IF;
          SELECT * INTO x FROM yardmaster.execution n
          WHERE n.rollout = p_rollout AND n.beginning = p_beginning
            AND n.vehicle = p_vehicle FOR UPDATE;
          IF NOT FOUND THEN RETURN; END IF;
          n_attempted := CASE WHEN x.forgiven THEN 0 ELSE p_attempted END;
          n_failed := CASE WHEN x.forgiven THEN 0 ELSE p_failed END;
          UPDATE yardmaster.execution n SET state = 'ended', instance = p_holder,
            gateway = p_gateway, outcome = p_outcome, failure = p_failure,
            sentence = p_sentence, version = p_version, touched = n.touched OR p_attempted > 0,
            attempted = n_attempted, failed = n_failed,
            counted = n.counted OR p_attempted > 0, changed = r.changes + 1
          WHERE n.rollout = p_rollout AND n.beginning = p_beginning AND n.vehicle = p_vehicle;
          -- Who has not heard a vehicle that was worked on is asked by nobody any more. A gateway whose window opens
          -- asks whether it has heard one that was put off.
          IF p_outcome NOT IN ('unreachable', 'deferred', 'skipped') THEN
            DELETE FROM yardmaster.missed n WHERE n.rollout = p_rollout
              AND n.beginning = p_beginning AND n.vehicle = p_vehicle AND n.outcome IS NULL;
          END IF;
          o_attempted := r.attempted; o_failed := r.failed;
          UPDATE yardmaster.rollout n SET changes = n.changes + 1,
            attempted = n.attempted - x.attempted + n_attempted,
            failed = n.failed - x.failed + n_failed, updated = yardmaster.clock()
          WHERE n.name = p_rollout RETURNING * INTO o_rollout;
          RETURN NEXT;
        END $yardmaster$;
        """
}
