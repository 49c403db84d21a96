extension FleetSchema {
    /// The sign-in of gateways.
    static let gateways = """
        -- Signs a process of a gateway in, or answers why not: `copied` while the last process of its state
        -- directory may still be at work (`p_before`), and `taken` while another one has its name. The processes
        -- `p_over` have certainly ended, and so have those that were silent for long.
        CREATE OR REPLACE FUNCTION yardmaster.sign_in(
          p_instance uuid, p_name text, p_program text, p_clock bigint, p_over uuid[],
          p_before uuid[], p_silence bigint, p_rest bigint
        ) RETURNS TABLE (word text, o_silence bigint)
        LANGUAGE plpgsql AS $yardmaster$
        DECLARE moment timestamptz := yardmaster.clock(); BEGIN
          PERFORM yardmaster.must_be(i, p_name) FROM unnest(p_instance || p_over || p_before) AS i;
          SELECT 'copied', (extract(epoch FROM moment - g.heard) * 1000000)::bigint
          INTO word, o_silence FROM yardmaster.gateway g
          WHERE g.instance = ANY (p_before) AND g.gone IS NULL
            AND g.heard + p_rest * interval '1 microsecond' > moment
          ORDER BY g.heard DESC LIMIT 1;
          IF FOUND THEN RETURN NEXT; RETURN; END IF;
          UPDATE yardmaster.gateway g SET gone = moment
          WHERE g.gone IS NULL AND g.instance <> p_instance
            AND (g.instance = ANY (p_over || p_before) OR g.name = p_name
              AND g.heard + p_silence * interval '1 microsecond' <= moment);
          -- Of two at once the second one waits here, and finds the name taken.
          BEGIN
            INSERT INTO yardmaster.gateway AS g (instance, name, program, since, heard,
              clock_offset_ms, retells)
            VALUES (p_instance, p_name, p_program, moment, moment,
              p_clock - (extract(epoch FROM moment) * 1000)::bigint, true)
            ON CONFLICT (instance) DO UPDATE SET heard = excluded.heard, gone = NULL;
            word := 'in';
          EXCEPTION WHEN unique_violation THEN word := 'taken';
          END;
          RETURN NEXT;
        END $yardmaster$;
        """
}
