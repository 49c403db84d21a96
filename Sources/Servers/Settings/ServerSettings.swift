package import Base
import Commands

/// One update server, and how its files become images of vehicles.
package struct ServerSettings: Sendable, Equatable {
    /// How this machine shows who it is.
    package enum Credential: Sendable, Equatable {
        /// One token for all controllers.
        case gateway(SecretReference)
        /// A token for each controller; the text has the vehicle's values in braces.
        case controllers(String)
        /// Nothing, or a certificate.
        case none
    }

    package let name: String
    /// The address of the server with its tenant, without a slash at its end.
    package let url: String
    package let authority: WebAuthority
    package let allowsHTTP: Bool
    /// The id of a controller, with the vehicle's values in braces.
    package let controller: String
    package let credential: Credential
    package let authorities: FileReference?
    package let certificate: FileReference?
    package let key: FileReference?
    package let requestsPerSecond: Int
    /// Whether an action that waits for a confirmation gets it when its image is here for the night.
    package let confirms: Bool
    /// Other hosts from which files may come; no token is sent there.
    package let hosts: [String]
    /// What is said of a controller besides the usual, by name.
    package let attributes: [Attribute]
    package let rules: [ArtifactRule]
    package let place: Place
    /// The directory of the file, for references in templates.
    package let directory: String

    /// A name at the server, and its value with the vehicle's values in braces.
    package struct Attribute: Sendable, Equatable {
        package let name: String
        package let value: String
    }
}

/// Which files of a server are images, and for which modules.
package struct ArtifactRule: Sendable, Equatable {
    let file: String
    let module: String
    package let family: String
    /// Nil for modules of every profile.
    let profile: String?
    /// The file in the archive that is the image; nil for a file that is the image itself.
    package let member: String?
    /// What a manifest says of the image, without its origin, digest and version.
    package let image: [JSONMember]
    /// What a manifest says of the update, without the image.
    package let update: [JSONMember]
    /// Whether the server's own word is enough for an image that nobody has signed.
    package let trustsTransport: Bool
    package let place: Place

    func fits(_ artifact: Deployment.Artifact, of module: Deployment.Module) -> Bool {
        Self.matches(file, artifact.file) && Self.matches(self.module, module.name)
    }

    package func fits(family: String, profile: String) -> Bool {
        self.family == family && (self.profile.map { $0 == profile } ?? true)
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        VehiclePattern(pattern)?.matches(text) ?? false
    }

    /// Whether the manifest's own checks verify who made the image.
    package var namesSigner: Bool {
        image.contains { ["signature", "tuf"].contains($0.name) }
    }
}

/// The file of an action that is the image of a vehicle.
package struct ChosenArtifact: Sendable, Equatable {
    package let artifact: Deployment.Artifact
    package let version: FirmwareVersion
    package let rule: ArtifactRule
}

/// Why an action has no image for a vehicle.
package enum NoArtifact: Error, Sendable, Equatable, CustomStringConvertible {
    case noRule
    case several(String, String)
    case badVersion(String)

    package var description: String {
        switch self {
        case .noRule: "no entry under `artifacts` is for one of its files and this vehicle"
        case .several(let one, let other):
            "two of its files are for this vehicle: \(one.visible) and \(other.visible)"
        case .badVersion(let text): "\(text.visible) is no version that a module can report"
        }
    }
}

extension ServerSettings {
    /// The one file of an action that is for a vehicle.
    package func artifact(
        of deployment: Deployment,
        family: String,
        profile: String
    ) throws(NoArtifact) -> ChosenArtifact {
        var found: (artifact: Deployment.Artifact, version: String, rule: ArtifactRule)?
        for module in deployment.modules {
            for artifact in module.artifacts {
                let rule = rules.first {
                    $0.fits(family: family, profile: profile) && $0.fits(artifact, of: module)
                }
                guard let rule else { continue }
                if let found { throw .several(found.artifact.file, artifact.file) }
                found = (artifact, module.version, rule)
            }
        }
        guard let found else { throw .noRule }
        guard let version = FirmwareVersion(found.version) else { throw .badVersion(found.version) }
        return ChosenArtifact(artifact: found.artifact, version: version, rule: found.rule)
    }

    /// Whether a file may come from this address.
    package func mayFetch(from authority: WebAuthority) -> Bool {
        isOwn(authority) || hosts.contains(authority.host.lowercased())
    }

    /// Whether a request to this address has the token: to the server itself, and encrypted where the server is.
    package func sendsToken(to address: String, at authority: WebAuthority) -> Bool {
        isOwn(authority) && (address.hasPrefix("https:") || !url.hasPrefix("https:"))
    }

    /// Whether this is the server itself.
    package func isOwn(_ authority: WebAuthority) -> Bool {
        authority.isSame(as: self.authority) && authority.port == self.authority.port
    }
}
