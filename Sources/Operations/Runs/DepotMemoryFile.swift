import Base
package import Commands
package import Simulation

/// The file with the flash of a simulated depot's modules.
package enum DepotMemoryFile {
    /// The file's path; creates its folder, for which the state directory must exist.
    package static func path(of depot: DepotFile, in state: String) throws(CommandError) -> String {
        let folder = state + "/simulation"
        try make(folder)
        return "\(folder)/\(fileName(depot.name)).memory"
    }

    /// Creates a folder unless it exists.
    package static func make(_ folder: String) throws(CommandError) {
        do throws(FileFault) { try FilePlace.makeFolder(folder) } catch {
            throw CommandError(.cannotCreate, "cannot make \(folder)", because: ["\(error)"])
        }
    }

    /// A depot's name as part of a file's name.
    private static func fileName(_ name: String) -> String {
        String(
            decoding: name.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
    }
}
