extension FleetDatabase {
    /// The version of the tables, compared with the program's.
    package func standing(
        of schema: FleetSchema = .current
    ) throws(FleetError) -> FleetSchema.Standing {
        do throws(FleetError) {
            let found = try rows(
                "read the version of the tables",
                "SELECT version, oldest_reader FROM yardmaster.schema"
            )
            guard let row = found.first, let version = row.integer(0),
                let reader = row.integer(1)
            else { return .absent }
            return schema.standing(version: Int(version), oldestReader: Int(reader))
        } catch {
            guard error.kind == .noSchema else { throw error }
            return .absent
        }
    }

    /// How long an upgrade may take: the rows of years are more than a run would wait for.
    private static let upgradeTime = Duration.seconds(6 * 3_600)

    /// Creates the tables, or upgrades them to the schema's version; true when there was something
    /// to do.
    package func upgrade(
        to schema: FleetSchema = .current,
        from standing: FleetSchema.Standing,
        by program: String
    ) throws(FleetError) -> Bool {
        let found: Int
        switch standing {
        case .absent: found = 0
        case .older(let version): found = version
        case .same, .ahead, .newer: return false
        }
        try run(
            schema.statements(from: found, by: program),
            found == 0 ? "make the tables" : "upgrade the tables",
            within: Self.upgradeTime
        )
        return true
    }

    /// Creates the roles that this user may create; returns those that are still missing.
    package func grantRights() throws(FleetError) -> [FleetRole] {
        try run(FleetRole.statements, "give the roles their rights")
        return try missingRoles()
    }

    package func missingRoles() throws(FleetError) -> [FleetRole] {
        let found = try rows(
            "read the roles",
            "SELECT rolname FROM pg_roles WHERE rolname LIKE 'yardmaster\\_%'"
        ).compactMap { $0.text(0) }
        return FleetRole.allCases.filter { !found.contains($0.rawValue) }
    }
}
