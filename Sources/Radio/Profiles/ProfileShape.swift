package import Base

/// What a profile of one family may contain, and the defaults for what it leaves out.
package struct ProfileShape: Sendable {
    /// Characteristics that belong to one service.
    package struct Group: Sendable {
        package struct Role: Sendable {
            package let role: GATTRole
            /// The UUID that the family's modules use.
            package let standard: GATTUUID

            package init(_ role: GATTRole, _ standard: GATTUUID) {
                self.role = role
                self.standard = standard
            }
        }

        package let name: String
        /// The UUID that the family's modules use; nil for one that is known only at run time.
        package let service: GATTUUID?
        /// Whether a profile must name it.
        package let isRequired: Bool
        /// The authentication that it is for; nil for a group that is there with any.
        package let opens: AuthenticationForm?
        package let roles: [Role]

        package init(
            _ name: String,
            service: GATTUUID?,
            isRequired: Bool = true,
            opens: AuthenticationForm? = nil,
            _ roles: [Role]
        ) {
            self.name = name
            self.service = service
            self.isRequired = isRequired
            self.opens = opens
            self.roles = roles
        }
    }

    package let family: Family
    /// The name to show until a module's own name is read.
    package let unnamed: String
    /// The default time limit for an answer of its modules.
    package let answerLimit: Duration
    /// Whether its modules advertise and accept connections.
    package let isHeard: Bool
    package let groups: [Group]
    package let authentications: [AuthenticationForm]
    /// Those of them that cannot be done without a key, and may have a default one.
    package let keyed: [AuthenticationForm]
    /// Where properties of its modules may be; empty in a family without properties.
    package let places: [ValuePlace.Kind]
    package let hasFeatures: Bool
    /// The protocols that can update parts of its modules.
    package let protocols: [UpdateProtocol]
    /// The wrong answers that its modules are known to bear; a profile may state others.
    package let wrongAnswers: WrongAnswers

    package static let usualAnswerLimit = Duration.seconds(10)

    package init(
        _ family: Family,
        unnamed: String,
        answerLimit: Duration = Self.usualAnswerLimit,
        isHeard: Bool = true,
        groups: [Group],
        authentications: [AuthenticationForm],
        keyed: [AuthenticationForm] = [],
        places: [ValuePlace.Kind] = [],
        hasFeatures: Bool = false,
        protocols: [UpdateProtocol] = [],
        wrongAnswers: WrongAnswers = .none
    ) {
        self.family = family
        self.unnamed = unnamed
        self.answerLimit = answerLimit
        self.isHeard = isHeard
        self.groups = groups
        self.authentications = authentications
        self.keyed = keyed
        self.places = places
        self.hasFeatures = hasFeatures
        self.protocols = protocols
        self.wrongAnswers = wrongAnswers
    }

    /// The characteristics that are in another place in modules of this profile: from the family's
    /// place to the profile's.
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
