package import Base
import Commands
import Glibc
package import Manifest
import Synchronization

/// The files that a plan was made from, the manifest first, each with its absolute path.
package struct PlanSources {
    private(set) var files: [(path: String, bytes: [UInt8])] = []

    package init() {}

    mutating func add(_ path: String, _ bytes: [UInt8]) {
        files.append((Self.absolute(path), bytes))
    }

    /// The last part of the path of a way back, which is no file.
    private static let wayBack = "/way back "

    fileprivate mutating func add(_ way: WayBack) {
        files.append((Self.wayBack + "\(waysBack.count + 1)", Array(way.text.utf8)))
    }

    /// The ways back in the order in which rollouts were brought back.
    fileprivate var waysBack: [WayBack] {
        files.filter { $0.path.hasPrefix(Self.wayBack) }
            .compactMap { WayBack(text: String(decoding: $0.bytes, as: UTF8.self)) }
    }

    package func bytes(_ path: String) -> [UInt8]? {
        files.first { $0.path == Self.absolute(path) }?.bytes
    }

    /// A later run may begin in another directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}

/// Plans that were read, for a command that keeps running: the plan of a digest never changes.
package final class PlanShelf: Sendable {
    private static let most = 2

    /// The most recently used one is at the end.
    private let plans = Mutex<[FrozenPlan]>([])

    package init() {}

    package func plan(_ digest: SHA256Digest, read: () -> FrozenPlan?) -> FrozenPlan? {
        let known = plans.withLock { plans -> FrozenPlan? in
            guard let place = plans.firstIndex(where: { $0.digest == digest }) else { return nil }
            let plan = plans.remove(at: place)
            plans.append(plan)
            return plan
        }
        if let known { return known }
        guard let plan = read() else { return nil }
        plans.withLock { plans in
            if plans.count >= Self.most { plans.removeFirst() }
            plans.append(plan)
        }
        return plan
    }
}

/// Frozen plans in the state directory: a rollout continues as it was begun, even when its files
/// are edited.
///
/// `plans/NAME` contains the sources of the plan with which the rollout of that name was begun.
package struct PlanArchive {
    private static let magic = Array("yardmaster-plan 1\n".utf8)

    private let folder: RolloutFolder

    package init(state: String) { folder = RolloutFolder(path: state + "/plans") }

    /// The rollouts that have a stored plan.
    package var names: [String] { folder.names }

    func keep(_ sources: PlanSources, for rollout: String) throws(CommandError) {
        var bytes = Self.magic
        for file in sources.files {
            let path = Array(file.path.utf8)
            bytes += Array("\(path.count) \(file.bytes.count)\n".utf8) + path + file.bytes
        }
        try folder.keep(bytes, of: rollout, "the plan")
    }

    /// The stored plan; nil unless it has this digest, where one is given.
    package func plan(_ digest: SHA256Digest?, of rollout: String) -> FrozenPlan? {
        guard let sources = sources(of: rollout), let main = sources.files.first else { return nil }
        let read = try? ManifestReader.read(path: main.path) { (path, _) throws(FileError) in
            guard let bytes = sources.bytes(path) else {
                throw FileError(path: path, reason: .missing)
            }
            return bytes
        }
        guard var plan = read?.plan else { return nil }
        let ways = sources.waysBack
        // The plan of the rollout that was brought back may be a derived one, too.
        if ways.isEmpty {
            plan = plan.plan(of: rollout)
        } else {
            for way in ways { plan = plan.returning(way) }
        }
        guard digest == nil || plan.digest == digest else { return nil }
        return plan
    }

    /// The sources of the rollout's plan, with the way back of its vehicles.
    package func sources(of rollout: String, adding way: WayBack) -> PlanSources? {
        var sources = sources(of: rollout)
        sources?.add(way)
        return sources
    }

    /// The path of the manifest with which the rollout was begun; nil when no plan is stored, and for a
    /// rollback, which has none of its own.
    package func manifest(of rollout: String) -> String? {
        guard let sources = sources(of: rollout), sources.waysBack.isEmpty else { return nil }
        return sources.files.first?.path
    }

    private func sources(of rollout: String) -> PlanSources? {
        guard let bytes = folder.bytes(of: rollout), bytes.starts(with: Self.magic) else {
            return nil
        }
        var sources = PlanSources()
        var rest = bytes[Self.magic.count...]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: 0x0A), end - rest.startIndex < 40 else {
                return nil
            }
            let counts = String(decoding: rest[..<end], as: UTF8.self)
                .split(separator: " ").compactMap { Int($0) }
            rest = rest[(end + 1)...]
            guard counts.count == 2, counts.allSatisfy({ (0...RolloutFolder.limit).contains($0) }),
                counts[0] + counts[1] <= rest.count
            else { return nil }
            let path = String(decoding: rest.prefix(counts[0]), as: UTF8.self)
            rest = rest.dropFirst(counts[0])
            sources.add(path, Array(rest.prefix(counts[1])))
            rest = rest.dropFirst(counts[1])
        }
        return sources
    }
}
