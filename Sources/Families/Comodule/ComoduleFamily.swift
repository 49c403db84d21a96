package import Base
package import Radio
import Simulation

extension Family {
    package static let comodule = Self(rawValue: "comodule")
}

extension FamilyRegistry.Entry {
    static let comodule = Self(
        profiles: [
            ("comodule-generic.yaml", PackageResources.comodule_generic_yaml),
            ("comodule-ebike-display.yaml", PackageResources.comodule_ebike_display_yaml),
        ],
        shape: .comodule,
        bootloader: { ComoduleBootloader.form(of: $0) },
        opener: { (secret) throws(ModuleSecretError) in
            guard let secret else { return ModuleOpener { ComoduleUpdate(key: nil, profile: $0) } }
            do throws(ComoduleKeyError) {
                let key = try ComoduleKey(secret)
                return ModuleOpener { ComoduleUpdate(key: key, profile: $0) }
            } catch {
                throw .unfit(
                    "is no key of a module",
                    cause: error.description,
                    form: "hex digits"
                )
            }
        },
        secrets: ComoduleSecrets(),
        simulated: .comodule
    )
}

extension ProfileShape {
    static let comodule = Self(
        .comodule,
        unnamed: "Comodule module",
        groups: [
            Group(
                "metrics",
                service: ComoduleNumbers.metrics,
                [
                    Group.Role(.notifier, ComoduleNumbers.notifier.uuid),
                    Group.Role(.register, ComoduleNumbers.register.uuid),
                    Group.Role(.selector, ComoduleNumbers.selector.uuid),
                ]
            ),
            Group(
                "security",
                service: ComoduleNumbers.security,
                opens: .challengeResponse,
                [
                    Group.Role(.key, ComoduleNumbers.key.uuid),
                    Group.Role(.challenge, ComoduleNumbers.challenge.uuid),
                    Group.Role(.response, ComoduleNumbers.response.uuid),
                    Group.Role(.authenticated, ComoduleNumbers.authenticated.uuid),
                ]
            ),
            .information, .secureDFU,
        ],
        authentications: [.challengeResponse, .none],
        keyed: [.challengeResponse],
        places: [.register],
        protocols: [.secureDFU],
        // After a wrong answer a module drops the link, and nothing else is known to happen.
        wrongAnswers: WrongAnswers(rotation: 4, verdict: 0)
    )
}

extension AuthenticationForm {
    /// SHA-1 of a challenge and the key.
    package static let challengeResponse = Self(rawValue: "challenge-response")
}

extension GATTRole {
    static let notifier = Self(rawValue: "notifier")
    static let register = Self(rawValue: "register")
    static let selector = Self(rawValue: "selector")
    static let key = Self(rawValue: "key")
    static let challenge = Self(rawValue: "challenge")
    static let response = Self(rawValue: "response")
    static let authenticated = Self(rawValue: "authenticated")
}
