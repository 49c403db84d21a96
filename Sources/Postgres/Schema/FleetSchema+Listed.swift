extension FleetSchema {
    /// Rights only for vehicles of the plan, and one clock for all times in the tables.
    ///
    /// Older programs get no new answer: each of their runs enters its plan first.
    static let listed = Migration(
        version: 5,
        oldestReader: 4,
        statements: """
            ALTER FUNCTION yardmaster.claim(text, uuid, text, text, bigint, bigint, bigint, bigint,
              bigint, boolean, text, integer, boolean) RENAME TO claim_listed;

            -- Without its row a vehicle has no wave and no place at the gate. Debts are paid
            -- anyway.
            CREATE FUNCTION yardmaster.claim(
              p_serial text, p_holder uuid, p_rollout text, p_vehicle text, p_length bigint,
              p_wait bigint, p_known bigint, p_generation bigint, p_beginning bigint,
              p_paying boolean, p_release text, p_limit integer, p_partial boolean
            ) RETURNS TABLE (
              word text, o_epoch bigint, o_generation bigint, a text, b text, c text, d text, e text
            )
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
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

            ALTER TABLE yardmaster.gateway
              ALTER COLUMN since SET DEFAULT yardmaster.clock(),
              ALTER COLUMN heard SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.history ALTER COLUMN claims_after SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.verdict ALTER COLUMN at SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.rollout
              ALTER COLUMN begun SET DEFAULT yardmaster.clock(),
              ALTER COLUMN updated SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.debt ALTER COLUMN begun SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.inhibit ALTER COLUMN made SET DEFAULT yardmaster.clock();
            ALTER TABLE yardmaster.said ALTER COLUMN at SET DEFAULT yardmaster.clock();
            """
    )
}
