package import Base
package import Radio

/// Updates of Comodule modules: their application starts a bootloader that takes Secure DFU.
package struct ComoduleUpdate: UpdateDriver {
    /// Nil for modules that are opened without authentication.
    private let key: ComoduleKey?
    private let profile: Profile
    /// Facts from earlier links, where the program follows the module.
    private var known: CachedModule?

    /// Without a profile, the shipped generic profile of the family is used.
    package init(key: ComoduleKey?, profile: Profile? = nil) {
        self.key = key
        self.profile = profile ?? Self.generic
    }

    private static let generic: Profile = {
        guard let generic = ProfileLibrary.shipped.profile(Profile.generic, of: .comodule) else {
            preconditionFailure("the family's generic profile is shipped")
        }
        return generic
    }()

    package var family: Family { .comodule }
    package var usesBootloader: Bool { true }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(
            family: .comodule,
            form: profile.advertisement,
            bootloader: ComoduleBootloader.form(of: profile)
        )
    }

    package func following(_ known: CachedModule) -> any UpdateDriver {
        var driver = self
        driver.known = known
        return driver
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        if known != nil { try check(link) }
        let client = ComoduleClient(
            link: ProfileShape.comodule.link(link, by: profile),
            time: time,
            answerLimit: profile.answerLimit
        )
        if profile.authentication != .none {
            guard let key else { throw .value("the module is opened with a key") }
            try await client.authenticate(key)
        }
        return ComoduleApplication(client: client, profile: profile, time: time, known: known)
    }

    /// Checks the characteristics.
    ///
    /// When a whole service is missing, the error names the service.
    private func check(_ link: any Link) throws(ModuleError) {
        let layout = ComoduleLayout(profile.gatt)
        let all =
            (profile.authentication == .none ? layout?.registers : layout?.all) ?? []
        for characteristic in all where link.flags(of: characteristic) == nil {
            let isWhole = all.allSatisfy {
                $0.service != characteristic.service || link.flags(of: $0) == nil
            }
            throw .radio(
                isWhole
                    ? .missingService(characteristic.service)
                    : .missingCharacteristic(characteristic.uuid)
            )
        }
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        SecureDFUReceiver(
            link: ProfileShape.comodule.link(link, by: profile),
            time: time,
            times: profile.times.upload
        )
    }
}
