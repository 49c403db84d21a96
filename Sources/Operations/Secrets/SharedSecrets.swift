package import Base
import Glibc
package import Manifest

/// Which vehicles of a fleet list have the same stored secret, whichever way they name it: by the
/// same path, by another one, by a link, or as a credential.
///
/// Such a secret is not replaced: it would lock the others out.
package struct SharedSecrets {
    /// Where a secret is stored.
    private enum Store: Hashable {
        case file(device: UInt64, number: UInt64)
        /// A file that does not exist.
        case path(String)
        /// A secret that is not in a file of this machine.
        case named(String)
    }

    private let credentials: String?
    private var holders: [Store: [SecretHolder]] = [:]
    private var order: [Store] = []

    /// `credentials` is the folder in which credentials are.
    package init(_ holders: [SecretHolder], credentials: String?) {
        self.credentials = credentials
        for holder in holders {
            let store = store(of: holder.secret)
            if self.holders[store] == nil { order.append(store) }
            self.holders[store, default: []].append(holder)
        }
    }

    package init(_ holders: [SecretHolder], _ context: Context) {
        self.init(holders, credentials: context.variable("CREDENTIALS_DIRECTORY"))
    }

    private func store(of reference: SecretReference) -> Store {
        switch reference {
        case .file(let file): return Self.store(at: file.path)
        case .credential(let name):
            guard let credentials else { return .named("\(reference)") }
            return Self.store(at: credentials + "/" + name)
        case .environment: return .named("\(reference)")
        }
    }

    private static func store(at path: String) -> Store {
        var status = stat()
        if stat(path, &status) == 0 {
            return .file(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        }
        let name = path.utf8.split(separator: 0x2F).last.map { String(Substring($0)) } ?? path
        guard let folder = realpath(FilePlace.folder(of: path), nil) else { return .path(path) }
        defer { free(folder) }
        return .path(String(cString: folder) + "/" + name)
    }

    /// The other vehicles that name the secret at this path, or a file that a change of it would
    /// write.
    package func others(than vehicle: VehicleID, at path: String) -> KeySharers {
        let lists = OutsideFile.endings.compactMap { holders[Self.store(at: path + $0)] }
        return KeySharers(than: vehicle, among: lists)
    }

    /// The vehicles of each secret that more than one has, in the order of the list.
    var groups: [[SecretHolder]] {
        order.compactMap { holders[$0] }.filter { $0.count > 1 }
    }

    // MARK: For people

    private static let mostNamed = 3

    /// The vehicles' names, or the first of them and the number of the others.
    package static func text(_ vehicles: [VehicleID]) -> String {
        let names = vehicles.prefix(mostNamed).map(\.text.visible).joined(separator: ", ")
        let rest = vehicles.count - mostNamed
        return rest > 0 ? "\(names) and \(rest) more" : names
    }

    package static let remedy =
        "`yardmaster secrets rotate MANIFEST --split` gives each vehicle a key file of its own "
        + "and rotates then"
}

/// The other vehicles that name the secret of one.
///
/// Each vehicle of a large fleet may have a key that all have, so the list of the others is made only to show it.
package struct KeySharers: Sendable {
    package static let none = KeySharers(than: nil, among: [])

    private let vehicle: VehicleID?
    private let lists: [[SecretHolder]]

    fileprivate init(than vehicle: VehicleID?, among lists: [[SecretHolder]]) {
        self.vehicle = vehicle
        self.lists = lists
    }

    package var isEmpty: Bool { !lists.joined().contains { $0.vehicle != vehicle } }

    /// Their names, or the first of them and the number of the others.
    package var text: String {
        var seen: Set<VehicleID> = []
        let others = lists.joined().map(\.vehicle).filter {
            $0 != vehicle && seen.insert($0).inserted
        }
        return SharedSecrets.text(others)
    }
}
