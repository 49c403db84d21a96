/// The role that a metadata document belongs to.
package enum RoleName: Hashable, Sendable, CustomStringConvertible {
    case root, timestamp, snapshot, targets
    /// A role to which another targets role delegated a part of its names.
    case delegated(ExactText)

    /// Nil for the names of the top-level roles, to which nobody can delegate, and for an empty or
    /// too long name.
    init?(delegated name: ExactText) {
        guard !name.bytes.isEmpty, name.bytes.count <= 1_024 else { return nil }
        guard !["root", "timestamp", "snapshot", "targets", "mirrors"].contains(name.text) else {
            return nil
        }
        self = .delegated(name)
    }

    package var name: ExactText {
        switch self {
        case .root: ExactText("root")
        case .timestamp: ExactText("timestamp")
        case .snapshot: ExactText("snapshot")
        case .targets: ExactText("targets")
        case .delegated(let name): name
        }
    }

    /// The required value of `_type`.
    var type: String {
        switch self {
        case .root: "root"
        case .timestamp: "timestamp"
        case .snapshot: "snapshot"
        case .targets, .delegated: "targets"
        }
    }

    /// Its name in the snapshot.
    var listedName: ExactText { ExactText(name.text + ".json") }

    /// The document's address, relative to the repository's.
    func path(version: Int64?) -> String {
        let name = PercentEncoding.encoded(name.bytes) + ".json"
        return version.map { "\($0).\(name)" } ?? name
    }

    package var description: String {
        switch self {
        case .root, .timestamp, .snapshot, .targets: name.description
        case .delegated(let name): "delegated role '\(name)'"
        }
    }
}
