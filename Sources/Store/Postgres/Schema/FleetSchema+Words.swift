extension FleetSchema {
    /// What keeps a vehicle from work.
    static let words = """
        -- A doubt stays until a person answers it, whichever rollout began it.
        CREATE OR REPLACE FUNCTION yardmaster.is_doubtful(p_vehicle text) RETURNS boolean
        LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.step s WHERE s.vehicle = p_vehicle
            AND (s.outcome IS NULL OR s.outcome = 'in-doubt'))
        $yardmaster$;

        CREATE OR REPLACE FUNCTION yardmaster.is_inhibited(p_vehicle text) RETURNS boolean
        LANGUAGE sql STABLE AS $yardmaster$
          SELECT EXISTS (SELECT FROM yardmaster.inhibit n WHERE n.vehicle IN (p_vehicle, '')
            AND (n.expires IS NULL OR n.expires > yardmaster.clock()))
        $yardmaster$;
        """
}
