package import Base

/// The database's user of this session, and its rights.
package struct FleetUser: Sendable, Equatable {
    package let name: String
    /// Whether it may take rights on modules.
    package let mayClaim: Bool
    /// Whether it may confirm a restored database.
    package let mayConfirm: Bool

    /// Whether the session's user has the rights of `FleetRole.operator`, as the owner has.
    static let isOperator = "has_column_privilege('yardmaster.history', 'generation', 'UPDATE')"

    package init(name: String, mayClaim: Bool, mayConfirm: Bool) {
        self.name = name
        self.mayClaim = mayClaim
        self.mayConfirm = mayConfirm
    }
}

extension FleetDatabase {
    package func user() throws(FleetError) -> FleetUser {
        let found = try rows(
            "read this user's rights",
            """
            SELECT current_user, has_column_privilege('yardmaster.module', 'holder', 'UPDATE'),
              \(FleetUser.isOperator)
            """
        )
        return FleetUser(
            name: found.first?.text(0) ?? "",
            mayClaim: found.first?.isTrue(1) ?? false,
            mayConfirm: found.first?.isTrue(2) ?? false
        )
    }

    /// How far this machine's clock is ahead of the server's, as exactly as the time of one request
    /// allows.
    package func clockOffset(at time: WallTime) throws(FleetError) -> Duration {
        let found = try rows(
            "read the clock",
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        )
        guard let server = found.first?.integer(0) else { return .zero }
        return WallTime(milliseconds: server).duration(to: time)
    }
}
