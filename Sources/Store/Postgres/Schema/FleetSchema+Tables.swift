extension FleetSchema {
    /// The tables, as a new database gets them.
    static let tables = """
        CREATE SCHEMA yardmaster;

        CREATE TABLE yardmaster.schema (
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          version integer NOT NULL,
          oldest_reader integer NOT NULL,
          -- When `fleet prune` was last done.
          pruned timestamptz
        );

        CREATE TABLE yardmaster.migration (
          version integer PRIMARY KEY,
          program text NOT NULL,
          at timestamptz NOT NULL DEFAULT now()
        );

        -- The one clock for all times in the tables.
        CREATE FUNCTION yardmaster.clock() RETURNS timestamptz
        LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

        -- Gateways; an instance is one process of the program.
        CREATE TABLE yardmaster.gateway (
          instance uuid PRIMARY KEY,
          name text NOT NULL CHECK (name <> ''),
          -- The user of the database that its rows belong to.
          login text NOT NULL DEFAULT session_user,
          program text NOT NULL,
          since timestamptz NOT NULL DEFAULT yardmaster.clock(),
          heard timestamptz NOT NULL DEFAULT yardmaster.clock(),
          clock_offset_ms bigint,
          gone timestamptz,
          rollout text,
          beginning bigint,
          draining timestamptz,
          drain boolean NOT NULL DEFAULT false,
          -- Whether this process reports again what it reported to another history.
          retells boolean NOT NULL DEFAULT false,
          -- Figures of the current run, from its last sign of life.
          adapters text[],
          links integer,
          rights_lost bigint NOT NULL DEFAULT 0,
          waited_ms bigint NOT NULL DEFAULT 0,
          untold bigint NOT NULL DEFAULT 0
        );
        CREATE INDEX gateway_name ON yardmaster.gateway (name);
        -- One process at a time has a name.
        CREATE UNIQUE INDEX gateway_at_work ON yardmaster.gateway (name) WHERE gone IS NULL;
        CREATE INDEX gateway_rollout ON yardmaster.gateway (rollout, beginning)
          WHERE gone IS NULL;

        -- The right to touch a module. The epoch counts its grants, and is kept after they end.
        CREATE TABLE yardmaster.module (
          serial text PRIMARY KEY CHECK (serial <> ''),
          epoch bigint NOT NULL CHECK (epoch > 0),
          holder uuid,
          rollout text,
          vehicle text,
          expires timestamptz,
          -- Since when it is held, and the last progress that its holder reported.
          since timestamptz DEFAULT yardmaster.clock(),
          doing text,
          acknowledged bigint,
          total bigint,
          CHECK ((holder IS NULL) = (expires IS NULL))
        ) WITH (fillfactor = 60, autovacuum_vacuum_threshold = 1000,
                autovacuum_vacuum_scale_factor = 0);
        CREATE INDEX module_holder ON yardmaster.module (holder) WHERE holder IS NOT NULL;

        -- The identity of the database when rights were last granted: another database, or an
        -- older state of this one, must not continue to grant rights.
        CREATE TABLE yardmaster.history (
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          system_identifier text NOT NULL,
          timeline text NOT NULL,
          module_table oid NOT NULL,
          generation bigint NOT NULL DEFAULT 1,
          claims_after timestamptz NOT NULL DEFAULT yardmaster.clock()
        );
        INSERT INTO yardmaster.history (system_identifier, timeline, module_table)
        SELECT system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
          'yardmaster.module'::regclass::oid
        FROM pg_control_system();

        -- Processes of gateways that may have done something that this database has lost. One that was
        -- at work then keeps every right from being granted; one whose sign-in may be lost keeps only
        -- steps that must be done once.
        CREATE TABLE yardmaster.awaited (
          instance uuid PRIMARY KEY,
          gateway text NOT NULL,
          was_at_work boolean NOT NULL,
          since timestamptz NOT NULL DEFAULT yardmaster.clock()
        );

        -- The verdicts of work under a right.
        CREATE TABLE yardmaster.verdict (
          number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          instance uuid NOT NULL,
          serial text NOT NULL,
          epoch bigint NOT NULL,
          rollout text NOT NULL,
          vehicle text NOT NULL,
          gateway text NOT NULL,
          run bigint NOT NULL,
          outcome text NOT NULL,
          failure text,
          sentence text NOT NULL,
          version text,
          -- False for a verdict that arrived after another gateway had the right: an
          -- observation.
          counts boolean NOT NULL,
          at timestamptz NOT NULL DEFAULT yardmaster.clock(),
          UNIQUE (serial, epoch, instance)
        );
        CREATE INDEX verdict_vehicle ON yardmaster.verdict (rollout, vehicle, number);
        CREATE INDEX verdict_at ON yardmaster.verdict (at);

        CREATE TABLE yardmaster.rollout (
          name text PRIMARY KEY,
          -- Incremented when it is begun again: earlier results no longer count.
          beginning bigint NOT NULL DEFAULT 1,
          plan text NOT NULL,
          state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished')),
          begun timestamptz NOT NULL DEFAULT yardmaster.clock(),
          updated timestamptz NOT NULL DEFAULT yardmaster.clock(),
          hold text CHECK (hold IN ('paused', 'aborted', 'recalled')),
          hold_reason text,
          hold_author text,
          hold_made timestamptz,
          -- The ended wave that it was paused after: `resume` begins the next one.
          stopped_after integer,
          -- How often it was resumed, so that each gateway notices each time.
          resumed bigint NOT NULL DEFAULT 0,
          waves integer NOT NULL DEFAULT 1,
          wave integer NOT NULL DEFAULT 0,
          wave_ended timestamptz,
          -- When a gateway last looked, for all of them, whether the wave has ended.
          looked timestamptz NOT NULL DEFAULT '-infinity',
          attempted integer NOT NULL DEFAULT 0,
          failed integer NOT NULL DEFAULT 0,
          -- The gate trips on more failures than this, or than this share in hundredths of a
          -- percent.
          most_failed integer,
          most_share integer,
          at_least integer NOT NULL DEFAULT 0,
          gate_action text NOT NULL DEFAULT 'pause',
          -- How many vehicles may be under way by the gate's rule and numbers; NULL for any number.
          room integer CHECK (room > 0),
          checker uuid,
          -- Counts changes of its vehicles, so that a reader can ask for the new ones only.
          changes bigint NOT NULL DEFAULT 0,
          CHECK ((hold IS NULL) = (hold_made IS NULL))
        ) WITH (fillfactor = 20);

        -- Each vehicle of a rollout's beginning.
        CREATE TABLE yardmaster.execution (
          rollout text NOT NULL,
          beginning bigint NOT NULL,
          vehicle text NOT NULL,
          serial text NOT NULL,
          wave integer NOT NULL,
          state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'claimed', 'ended')),
          -- The gateway that has it, or had it last.
          instance uuid,
          gateway text,
          epoch bigint,
          outcome text,
          failure text,
          sentence text,
          version text,
          touched boolean NOT NULL DEFAULT false,
          -- Its contribution to the gate.
          attempted integer NOT NULL DEFAULT 0,
          failed integer NOT NULL DEFAULT 0,
          counted boolean NOT NULL DEFAULT false,
          forgiven boolean NOT NULL DEFAULT false,
          changed bigint NOT NULL DEFAULT 0,
          -- Since when it is in its state.
          since timestamptz DEFAULT yardmaster.clock(),
          -- The gateway that the vehicle is left to, and until when; then any gateway may take it.
          favoured text,
          favoured_until timestamptz,
          PRIMARY KEY (rollout, beginning, vehicle)
        ) WITH (fillfactor = 70);
        CREATE INDEX execution_changed ON yardmaster.execution (rollout, beginning, changed);
        CREATE INDEX execution_claimed ON yardmaster.execution (rollout, beginning)
          WHERE state = 'claimed';
        CREATE INDEX execution_open ON yardmaster.execution (rollout, beginning, wave)
          WHERE state <> 'ended';
        CREATE INDEX execution_holder ON yardmaster.execution (instance)
          WHERE state = 'claimed';
        CREATE INDEX execution_favoured ON yardmaster.execution (rollout, beginning, favoured)
          WHERE favoured IS NOT NULL;

        -- Vehicles that a gateway's process has left to the others.
        CREATE TABLE yardmaster.missed (
          rollout text NOT NULL,
          beginning bigint NOT NULL,
          vehicle text NOT NULL,
          instance uuid NOT NULL,
          -- The gateway's own verdict; NULL when it only did not hear the vehicle.
          gateway text,
          outcome text,
          failure text,
          sentence text,
          PRIMARY KEY (rollout, beginning, vehicle, instance)
        );

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
        CREATE INDEX step_vehicle ON yardmaster.step (vehicle, epoch);
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
          begun timestamptz NOT NULL DEFAULT yardmaster.clock(),
          -- The run that began it, its progress, and who saw the module last.
          run bigint,
          acknowledged bigint NOT NULL DEFAULT 0,
          in_bootloader boolean NOT NULL DEFAULT false,
          seen_gateway text,
          seen_run bigint,
          seen_epoch bigint NOT NULL DEFAULT 0
        );
        CREATE INDEX debt_vehicle ON yardmaster.debt (vehicle);
        CREATE INDEX debt_rollout ON yardmaster.debt (rollout);

        -- What each module ran before a rollout sent it an image, and whether it was proven with that.
        CREATE TABLE yardmaster.transfer (
          number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          serial text NOT NULL,
          vehicle text NOT NULL,
          rollout text NOT NULL,
          image text NOT NULL,
          name text NOT NULL,
          version text,
          target text NOT NULL,
          before text,
          proven boolean NOT NULL DEFAULT false,
          UNIQUE (serial, rollout, image)
        );
        CREATE INDEX transfer_serial ON yardmaster.transfer (serial, number);
        CREATE INDEX transfer_image ON yardmaster.transfer (image, rollout, name);

        -- Images of which no transfer begins.
        CREATE TABLE yardmaster.recall (
          image text PRIMARY KEY,
          name text NOT NULL,
          reason text NOT NULL,
          author text NOT NULL,
          made timestamptz NOT NULL DEFAULT yardmaster.clock()
        );

        -- Whether a transfer for an update server's action may begin: false from the transaction that ends the action.
        CREATE TABLE yardmaster.served (
          rollout text NOT NULL,
          serial text NOT NULL,
          image text NOT NULL,
          open boolean NOT NULL,
          -- What a gateway says of a transfer that may not begin.
          sentence text NOT NULL,
          PRIMARY KEY (rollout, serial, image)
        );

        -- Steps of `always` that are still owed to a vehicle.
        CREATE TABLE yardmaster.owed (
          rollout text NOT NULL,
          vehicle text NOT NULL,
          digest text NOT NULL,
          ordinal integer NOT NULL,
          epoch bigint NOT NULL,
          gateway text NOT NULL,
          action text NOT NULL,
          -- The run that began it.
          run bigint,
          PRIMARY KEY (rollout, vehicle, digest, ordinal)
        );
        CREATE INDEX owed_vehicle ON yardmaster.owed (vehicle);

        -- The vehicle without a name is the whole depot.
        CREATE TABLE yardmaster.inhibit (
          vehicle text PRIMARY KEY,
          reason text NOT NULL,
          expires timestamptz,
          author text NOT NULL,
          made timestamptz NOT NULL DEFAULT yardmaster.clock()
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
          -- The user of the database, which the server knows; the author is what that user says.
          login text NOT NULL DEFAULT session_user,
          at timestamptz NOT NULL DEFAULT yardmaster.clock()
        );

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
          -- Of the window, as in the view.
          zone text,
          view text NOT NULL,
          mark text NOT NULL,
          brought timestamptz NOT NULL DEFAULT yardmaster.clock()
        );
        """
}
