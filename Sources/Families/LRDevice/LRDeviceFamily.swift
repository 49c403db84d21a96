package import Base
import Radio
import Simulation

extension Family {
    package static let lrdevice = Self(rawValue: "lrdevice")
}

extension FamilyRegistry.Entry {
    static let lrdevice = Self(
        profiles: [
            ("lrdevice-generic.yaml", PackageResources.lrdevice_generic_yaml)
        ],
        shape: .lrdevice,
        opener: { (secret) throws(ModuleSecretError) in
            // Many features of a lock need no secret.
            guard let secret else { return ModuleOpener { LRDriver(profile: $0) } }
            do throws(LRCredentialsError) {
                let credentials = try LRCredentials(secret)
                return ModuleOpener { LRDriver(profile: $0, credentials: credentials) }
            } catch {
                throw .unfit("opens no lock", cause: error.description, form: "KEY:PASSWORD")
            }
        },
        secrets: LRSecrets(),
        simulated: .lrdevice
    )
}

extension ProfileShape {
    static let lrdevice = Self(
        .lrdevice,
        unnamed: "SwiftLock",
        groups: [
            Group(
                "messages",
                service: LRNumbers.service,
                [
                    Group.Role(GATTRole(rawValue: "request"), LRNumbers.request.uuid),
                    Group.Role(GATTRole(rawValue: "reply"), LRNumbers.reply.uuid),
                ]
            )
        ],
        authentications: [AuthenticationForm(rawValue: "key-exchange"), .none],
        places: [.command],
        hasFeatures: true
    )
}
