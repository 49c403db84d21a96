package import Base

extension FleetDatabase {
    /// Signs this process of a gateway in, and records how far its clock is from the server's.
    ///
    /// `before` are earlier processes of the same state directory.
    package func signIn(
        _ holder: FleetHolder,
        after before: [EarlierStart] = [],
        program: String,
        at time: WallTime,
        terms: LeaseTerms = .standard
    ) throws(FleetError) -> FleetSignIn {
        func instances(_ starts: [EarlierStart]) -> String { Self.array(starts.map(\.instance)) }
        let found = try rows(
            "sign in",
            """
            SELECT * FROM yardmaster.sign_in($1::uuid, $2, $3, $4::bigint, $5::uuid[], $6::uuid[],
              $7::bigint, $8::bigint)
            """,
            [
                holder.instance, holder.gateway, program, "\(time.milliseconds)",
                instances(before.filter(\.isOver)), instances(before.filter { !$0.isOver }),
                terms.length.microseconds, (terms.length + terms.takeoverWait).microseconds,
            ]
        )
        switch found.first?.text(0) {
        case "in": return .done
        case "taken": return .nameTaken
        case "copied": return .copied(silence: .microseconds(found.first?.integer(1) ?? 0))
        default: throw FleetError(.refused, "sign in", "the function answers nothing")
        }
    }

    /// Gives a sign of life, with the place in a rollout that the database may have lost; returns which history this
    /// is, nil when the database does not know this process, or another one has its name.
    ///
    /// `time` is the machine's clock, if the run uses it.
    package func beat(
        _ holder: FleetHolder,
        _ figures: FleetFigures = FleetFigures(),
        in place: FleetWork? = nil,
        at time: WallTime? = nil
    ) throws(FleetError) -> FleetPlaceInHistory? {
        try rows(
            "give a sign of life",
            """
            UPDATE yardmaster.gateway AS g SET heard = yardmaster.clock(), adapters = $2::text[],
              links = $3::integer, rights_lost = $4::bigint, waited_ms = $5::bigint,
              untold = $6::bigint, clock_offset_ms = coalesce($7::bigint
                - (extract(epoch FROM yardmaster.clock()) * 1000)::bigint, clock_offset_ms),
              rollout = coalesce($8, rollout), beginning = coalesce($9::bigint, beginning),
              draining = CASE WHEN $10::boolean THEN NULL WHEN NOT $10::boolean
                THEN coalesce(draining, yardmaster.clock()) ELSE draining END
            WHERE instance = $1::uuid AND gone IS NULL
            RETURNING \(FleetPlaceInHistory.columns(of: "g.name")), \(Self.unsynced)
            """,
            [
                holder.instance, Self.array(figures.adapters), "\(figures.links)",
                "\(figures.rightsLost)", "\(figures.waited.nanoseconds / 1_000_000)",
                "\(figures.untold)", time.map { "\($0.milliseconds)" }, place?.rollout,
                place.map { "\($0.beginning)" }, place.map { "\($0.takesPart)" },
            ],
            isFrequent: true
        ).first.flatMap { FleetPlaceInHistory($0) }
    }

    /// Signs off, and gives back the rights that are still held.
    package func signOff(_ holder: FleetHolder) throws(FleetError) {
        _ = try releaseAll(of: holder.instance)
    }

    /// Every gateway, the latest process of each name first; ended ones are listed for a week.
    package func gateways() throws(FleetError) -> [FleetGateway] {
        let found = try rows(
            "read the gateways",
            """
            SELECT g.instance::text, g.name, g.program,
              (extract(epoch FROM g.since) * 1000)::bigint,
              (extract(epoch FROM g.heard) * 1000)::bigint,
              (extract(epoch FROM yardmaster.clock() - g.heard) * 1000000)::bigint,
              g.clock_offset_ms, g.gone IS NOT NULL,
              (SELECT count(*) FROM yardmaster.module m WHERE m.holder = g.instance),
              g.drain OR g.draining IS NOT NULL, array_to_string(g.adapters, ' '), g.links,
              g.rights_lost, g.waited_ms, g.untold, g.rollout, g.beginning
            FROM yardmaster.gateway g
            WHERE g.heard > yardmaster.clock() - interval '7 days'
              OR g.instance IN (SELECT m.holder FROM yardmaster.module m
                WHERE m.holder IS NOT NULL)
            ORDER BY g.name, g.heard DESC, g.instance
            """
        )
        return found.compactMap { row in
            guard let instance = row.text(0), let name = row.text(1), let program = row.text(2),
                let since = row.integer(3), let heard = row.integer(4),
                let silence = row.integer(5), let modules = row.integer(8)
            else { return nil }
            var figures: FleetFigures?
            if let links = row.integer(11) {
                var found = FleetFigures()
                found.adapters = (row.text(10) ?? "").split(separator: " ").map(String.init)
                found.links = Int(links)
                found.rightsLost = Int(row.integer(12) ?? 0)
                found.waited = .milliseconds(row.integer(13) ?? 0)
                found.untold = Int(row.integer(14) ?? 0)
                figures = found
            }
            var gateway = FleetGateway(
                instance: instance,
                name: name,
                program: program,
                since: WallTime(milliseconds: since),
                heard: WallTime(milliseconds: heard),
                silence: max(.zero, .microseconds(silence)),
                clockOffset: row.integer(6).map { .milliseconds($0) },
                isGone: row.isTrue(7),
                isDraining: row.isTrue(9),
                modules: Int(modules),
                figures: figures
            )
            gateway.rollout = row.text(15)
            gateway.beginning = row.integer(16).map { Int($0) }
            return gateway
        }
    }
}
