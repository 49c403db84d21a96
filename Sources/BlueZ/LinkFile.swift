import Base
import Glibc

/// Stores the addresses of our links in one file, and in another the addresses of bonded modules
/// with the adapter of each.
///
/// If the files are lost, a later run takes a link that a killed run has left for another program's
/// link, and cannot name the adapter to which a module that refuses to pair was bonded.
package final class LinkFile: LinkMemory {
    private let path: String
    private let bondPath: String?
    private let known: Monitor<Set<String>>
    private let bonded: Monitor<[String: String]>

    /// Without a second path, bonds are not remembered.
    package init(path: String, bonds: String? = nil) {
        self.path = path
        bondPath = bonds
        known = Monitor(
            Set(
                Self.read(path).filter { line in
                    line.utf8.count == 17 && line.allSatisfy { $0.isHexDigit || $0 == ":" }
                }
            )
        )
        let lines: [String] = bonds.map { Self.read($0) } ?? []
        let pairs = lines.map { $0.split(separator: " ").map(String.init) }
        bonded = Monitor(
            Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
        )
    }

    package func links() -> Set<String> { known.withLock { $0 } }

    package func add(_ address: String) {
        known.withLock { if $0.insert(address).inserted { write($0.sorted(), to: path) } }
    }

    package func remove(_ address: String) {
        known.withLock { if $0.remove(address) != nil { write($0.sorted(), to: path) } }
    }

    package func bonds() -> [String: String] { bonded.withLock { $0 } }

    package func bonded(_ address: String, at adapter: String) {
        bonded.withLock { bonds in
            guard bonds.updateValue(adapter, forKey: address) != adapter else { return }
            guard let bondPath else { return }
            write(bonds.map { "\($0) \($1)" }.sorted(), to: bondPath)
        }
    }

    private static func read(_ path: String) -> [String] {
        guard let file = try? FilePlace.open(path, O_RDONLY) else { return [] }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(file, &buffer, buffer.count)
        guard count > 0 else { return [] }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Writes a new file and renames it over the old one, so that the file is always complete.
    private func write(_ lines: [String], to path: String) {
        guard let place = try? FilePlace(path) else { return }
        let draft = place.beside(place.name + ".new")
        // What another process has left there may be anything.
        try? draft.remove()
        guard let file = try? draft.open(O_CREAT | O_EXCL | O_WRONLY, mode: 0o600) else { return }
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        let count = Glibc.write(file, bytes, bytes.count)
        close(file)
        if count == bytes.count { try? place.folder.rename(draft.name, to: place.name) }
    }
}
