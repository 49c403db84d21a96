extension FleetSchema {
    /// Which rows a user of the database may write: the processes of a gateway, and what they report, belong to
    /// the user that signed them in.
    ///
    /// What changes rows of others is a function with the rights of the owner, which asks first who
    /// calls it. Rows that a role writes itself are restricted by the policies of `FleetRole`.
    static let owners = """
        -- Whether a process or a gateway's name belongs to another user than the one of this session.
        CREATE OR REPLACE FUNCTION yardmaster.is_others(p_instance uuid, p_name text)
        RETURNS boolean LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.gateway g
              WHERE g.instance = p_instance AND g.login <> session_user)
            OR EXISTS (SELECT FROM yardmaster.gateway g
              WHERE g.name = p_name AND g.login <> session_user)
        $yardmaster$;

        -- Whether this session's gateway has, or had, the right to a module since a grant.
        CREATE OR REPLACE FUNCTION yardmaster.worked_on(p_serial text, p_epoch bigint)
        RETURNS boolean LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.module m
              JOIN yardmaster.gateway g ON g.instance = m.holder
              WHERE m.serial = p_serial AND m.epoch >= p_epoch AND g.login = session_user)
            OR EXISTS (SELECT FROM yardmaster.verdict v
              JOIN yardmaster.gateway g ON g.instance = v.instance
              WHERE v.serial = p_serial AND v.epoch >= p_epoch AND g.login = session_user)
        $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.must_be(p_instance uuid, p_name text)
        RETURNS void LANGUAGE plpgsql STABLE AS $yardmaster$ BEGIN
          IF yardmaster.is_others(p_instance, p_name) THEN
            RAISE EXCEPTION 'the gateway % belongs to another user of the database than %',
              coalesce(p_name, p_instance::text), session_user
              USING ERRCODE = 'insufficient_privilege';
          END IF;
        END $yardmaster$;

        -- Records that another server took over, or with the present timeline that its clock was put forward: nothing is
        -- granted for a while.
        CREATE OR REPLACE FUNCTION yardmaster.move_on(p_timeline text, p_old text, p_wait bigint)
        RETURNS void LANGUAGE sql AS $yardmaster$
          UPDATE yardmaster.history SET timeline = p_timeline, claims_after = greatest(claims_after,
            yardmaster.clock() + least(p_wait, 3600000000) * interval '1 microsecond')
          WHERE timeline = p_old
            AND p_timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
        $yardmaster$;
        """

    /// Statements after all functions: they give some of them the rights of the owner.
    static let closed = """
        -- Functions with the rights of the owner, which nobody may call who has no role for it.
        DO $yardmaster$ DECLARE f regprocedure; BEGIN
          FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
            WHERE p.pronamespace = 'yardmaster'::regnamespace
              AND p.proname = ANY ('{\((FleetRole.gatewayFunctions + inner).joined(separator: ","))}')
          LOOP
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, pg_temp', f);
            EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
          END LOOP;
          FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
            WHERE p.pronamespace = 'yardmaster'::regnamespace
              AND p.proname IN ('is_others', 'worked_on')
          LOOP
            EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = pg_catalog, pg_temp', f);
          END LOOP;
        END $yardmaster$;
        """

    /// Functions of triggers that write rows of others.
    private static let inner = ["await_gateways", "settle_places"]
}
