package import Domain

/// What a profile of one family may hold, and what stands there where it says nothing.
package struct ProfileShape: Sendable {
    /// Characteristics that belong to one service.
    package struct Group: Sendable {
        package struct Role: Sendable {
            package let role: GATTRole
            /// As the family's modules have it.
            package let standard: GATTUUID

            package init(_ role: GATTRole, _ standard: GATTUUID) {
                self.role = role
                self.standard = standard
            }
        }

        package let name: String
        /// As the family's modules have it; nil for one that is known at run time only.
        package let service: GATTUUID?
        /// A profile must name it.
        package let isRequired: Bool
        package let roles: [Role]

        package init(
            _ name: String,
            service: GATTUUID?,
            isRequired: Bool = true,
            _ roles: [Role]
        ) {
            self.name = name
            self.service = service
            self.isRequired = isRequired
            self.roles = roles
        }
    }

    package let family: Family
    /// What a module of it is called until its own name is read.
    package let unnamed: String
    /// How long its modules may take for an answer, where a profile does not say otherwise.
    package let answerLimit: Duration
    /// Its modules advertise, and are connected to.
    package let isHeard: Bool
    package let groups: [Group]
    package let authentications: [AuthenticationForm]
    /// Where its modules' properties may stand; none in a family without properties.
    package let places: [ValuePlace.Kind]
    package let hasFeatures: Bool
    /// What its modules' parts may be updated by.
    package let protocols: [UpdateProtocol]

    package static let usualAnswerLimit = Duration.seconds(10)

    package init(
        _ family: Family,
        unnamed: String,
        answerLimit: Duration = Self.usualAnswerLimit,
        isHeard: Bool = true,
        groups: [Group],
        authentications: [AuthenticationForm],
        places: [ValuePlace.Kind] = [],
        hasFeatures: Bool = false,
        protocols: [UpdateProtocol] = []
    ) {
        self.family = family
        self.unnamed = unnamed
        self.answerLimit = answerLimit
        self.isHeard = isHeard
        self.groups = groups
        self.authentications = authentications
        self.places = places
        self.hasFeatures = hasFeatures
        self.protocols = protocols
    }

    /// Where modules of a profile have what the family's other modules have elsewhere.
    package func moved(by gatt: GATTForm) -> [Characteristic: Characteristic] {
        var moved: [Characteristic: Characteristic] = [:]
        for group in groups {
            guard let service = group.service else { continue }
            for role in group.roles {
                let standard = Characteristic(role.standard, of: service)
                guard let own = gatt.characteristic(role.role), own != standard else { continue }
                moved[standard] = own
            }
        }
        return moved
    }
}
