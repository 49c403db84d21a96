package import Base
package import Commands
import Images
package import Manifest

/// The plan of a bundle's manifest, and the purpose of each part.
///
/// A bundle contains only what its manifest names: an unneeded part could only be meant for a
/// program that checks less.
package struct BundlePlan {
    /// A file that is beside the manifest after the bundle is taken over.
    package struct File {
        let part: String
        /// Its path, relative to the manifest's folder.
        let path: [String]
        /// Whether it is a profile.
        let isProfile: Bool
    }

    package let plan: FrozenPlan
    /// The manifest is last: the others are useless without it.
    let files: [File]

    /// The name of the manifest's file.
    var manifest: String { files.last?.path.last ?? "" }

    /// The operator's profiles for the plan's vehicles.
    var profiles: [File] { files.filter { $0.part.utf8.starts(with: "profiles/".utf8) } }

    /// `tell` is called with the diagnostics of the manifest.
    package init(
        _ bundle: BundleFile,
        tell: ([Diagnostic]) -> Void
    ) throws(CommandError) {
        let names = bundle.names(below: "manifest")
        guard let part = names.first,
            let path = BundlePath(part).flatMap({ $0.parts.count == 2 ? $0.parts[1] : nil })
        else { throw BundleFile.refusal(bundle.path, .noMember("manifest")) }
        guard names.count == 1 else {
            throw BundleFile.refusal(bundle.path, .unknownPart(names[names.count - 1]))
        }
        let manifest: [UInt8]
        do throws(BundleFault) {
            manifest = try bundle.bytes(of: part)
        } catch { throw BundleFile.refusal(bundle.path, error) }
        var asked: Set<ExactText> = []
        let read: ManifestReading
        do throws(ManifestError) {
            read = try ManifestReader.read(manifest, path: path) {
                (file, limit) throws(FileError) in
                guard let name = BundlePath(file)?.part else {
                    throw FileError(path: file, reason: .missing)
                }
                asked.insert(ExactText(name))
                guard let bytes = try? bundle.bytes(of: name), bytes.count <= limit else {
                    throw FileError(path: file, reason: .missing)
                }
                return bytes
            }
        } catch { throw Self.invalid(bundle, error.description) }
        tell(read.diagnostics)
        guard let plan = read.plan else {
            throw Self.invalid(bundle, "its faults are listed above")
        }
        for file in plan.filesBeside {
            if let name = BundlePath(file)?.part { asked.insert(ExactText(name)) }
        }
        self.plan = plan
        do throws(BundleFault) {
            let files = try Self.files(of: bundle.index, besides: part, plan, asked)
            try Self.checkPlaces(files.map(\.path) + [[path]])
            self.files = files + [File(part: part, path: [path], isProfile: false)]
        } catch { throw BundleFile.refusal(bundle.path, error) }
    }

    /// The files of the bundle that the plan needs.
    private static func files(
        of index: BundleIndex,
        besides manifest: String,
        _ plan: FrozenPlan,
        _ asked: Set<ExactText>
    ) throws(BundleFault) -> [File] {
        var files: [File] = []
        for member in index.members where member.name != manifest {
            guard isNamed(member.name, plan, asked) else {
                throw .unknownPart(member.name)
            }
            guard let parts = BundlePath(member.name)?.parts else { continue }
            // Documents that verify images are in every bundle: they are small and belong
            // together.
            guard !member.isHeld || parts[0] == "images" else {
                throw .noMember(member.name)
            }
            switch parts[0] {
            case "files":
                files.append(
                    File(
                        part: member.name,
                        path: Array(parts.dropFirst()),
                        isProfile: !asked.contains(ExactText(member.name))
                    )
                )
            case "profiles":
                files.append(File(part: member.name, path: parts, isProfile: true))
            default: break
            }
        }
        return files
    }

    /// Checks that no two files have the same path, and that none is a folder of another.
    private static func checkPlaces(_ places: [[String]]) throws(BundleFault) {
        var taken: Set<ExactText> = []
        for place in places {
            let name = place.joined(separator: "/")
            guard taken.insert(ExactText(name)).inserted else { throw .clash(name) }
        }
        for place in places {
            for count in 1..<max(1, place.count) {
                let folder = place.prefix(count).joined(separator: "/")
                guard !taken.contains(ExactText(folder)) else { throw .clash(folder) }
            }
        }
    }

    private static func invalid(_ bundle: BundleFile, _ cause: String) -> CommandError {
        CommandError(
            .manifest,
            "the manifest in the bundle '\(bundle.path.visible)' is not valid",
            because: [cause]
        )
    }

    private static func isProfileName(_ name: String?) -> Bool {
        guard let name, name.first != "." else { return false }
        return name.hasSuffix(".yaml") || name.hasSuffix(".yml")
    }

    /// Whether the plan uses a part.
    private static func isNamed(
        _ name: String,
        _ plan: FrozenPlan,
        _ asked: Set<ExactText>
    ) -> Bool {
        guard let path = BundlePath(name)?.parts, path.count > 1 else { return false }
        switch path[0] {
        case "files":
            if asked.contains(ExactText(name)) { return true }
            // The folder of profiles that the manifest names.
            let folder = plan.profiles.flatMap { BundlePath($0)?.parts }
            return folder == Array(path.dropFirst().dropLast()) && isProfileName(path.last)
        case "profiles": return path.count == 2 && isProfileName(path[1])
        case "images":
            return path.count == 2 && plan.images.contains { "\($0.digest)" == path[1] }
        case "signatures":
            return path.count == 2
                && plan.images.contains { image in
                    guard case .signature = image.trust else { return false }
                    return ExactText(image.name) == ExactText(path[1])
                }
        case "attachments":
            return path.count == 3
                && plan.images.contains { image in
                    ExactText(image.name) == ExactText(path[1])
                        && image.attachments.contains { $0.fileName == path[2] }
                }
        case "metadata":
            return path.count == 3
                && plan.trust.repositories.contains { ExactText($0.name) == ExactText(path[1]) }
        default: return false
        }
    }
}

/// The path of a file within a folder; it can neither lead out of the folder nor name the folder
/// itself.
struct BundlePath: Equatable, Sendable {
    let parts: [String]

    /// Nil for an absolute path and for one with `..`; `./a//b` is `a/b`.
    init?(_ path: String) {
        guard !path.utf8.starts(with: "/".utf8) else { return nil }
        parts = path.utf8.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
            .filter { $0 != "." }
        guard !parts.isEmpty, !parts.contains("..") else { return nil }
    }

    /// The name of the bundle's part that contains this file.
    var part: String { "files/" + parts.joined(separator: "/") }
}

extension FrozenPlan {
    /// Files that a manifest names but a bundle does not contain, if they are beside the manifest:
    /// secrets, and the certificates and keys for servers.
    var filesOfTheDepot: [String] {
        var files = [fetch.authorities, fetch.certificate, fetch.key].compactMap { $0?.text }
        for vehicle in vehicles {
            for case .file(let file)? in [vehicle.secret, vehicle.token] { files.append(file.text) }
        }
        return Set(files).sorted()
    }

    /// The files that verify images, in addition to those that the plan was read from.
    var filesBeside: [String] {
        var paths = trust.repositories.map(\.root.path)
        for image in images {
            if case .signature(.file(let key), _) = image.trust { paths.append(key.path) }
            for case .attestation(let key?) in image.attachments.map(\.kind) {
                paths.append(key.path)
            }
        }
        return paths
    }
}
