import Base
import Commands
import Glibc
import Store

/// The file in a state directory with the processes of this gateway that may have rights.
///
/// Each line has the process, and where it was begun: which start of the machine, and which
/// directory. Where both are those of now, the lock of the directory proves that the process has ended;
/// in a copy of the directory, and after a start of the machine, nothing does.
struct FleetStartFile {
    struct Start {
        let instance: String
        let place: String
    }

    private let path: String
    /// Where this process is begun.
    let place: String

    init(in state: String) {
        path = state + "/fleet-instance"
        var status = stat()
        let isKnown = stat(state, &status) == 0
        let boot = Self.line(of: "/proc/sys/kernel/random/boot_id") ?? "unknown"
        let directory = isKnown ? "\(status.st_dev):\(status.st_ino)" : "unknown"
        place = boot + " " + directory
    }

    /// The last process first; none when there is no file.
    func read() throws(CommandError) -> [Start] {
        var starts: [Start] = []
        for line in try lines() {
            let words = line.split(separator: " ", maxSplits: 1)
            guard let instance = words.first, instance.utf8.count == 36,
                instance.allSatisfy({ $0.isHexDigit || $0 == "-" })
            else {
                throw CommandError(
                    .configuration,
                    "\(path) does not hold what a run wrote there",
                    hint: "remove it; modules that its run had are free after three minutes"
                )
            }
            starts.append(
                Start(instance: String(instance), place: words.count > 1 ? String(words[1]) : "")
            )
        }
        return starts
    }

    /// Writes processes, each with the place where it was begun.
    func write(_ starts: [EarlierStart], knowing before: [Start]) throws(CommandError) {
        var text = ""
        for start in starts {
            let known = before.first { $0.instance == start.instance }
            text += "\(start.instance) \(known?.place ?? place)\n"
        }
        if let code = Draft.write(Array(text.utf8), to: path, mode: 0o640) {
            throw CommandError(.cannotWrite, "\(path): \(Descriptor.text(of: code))")
        }
    }

    private func lines() throws(CommandError) -> [Substring] {
        do throws(FileFault) {
            return try Self.text(of: path).split(separator: "\n")
        } catch {
            if error.code == ENOENT { return [] }
            throw CommandError(.configuration, "\(path): \(error)")
        }
    }

    private static func line(of path: String) -> String? {
        (try? text(of: path))?.split(separator: "\n").first.map(String.init)
    }

    /// At most 4 KiB.
    private static func text(of path: String) throws(FileFault) -> String {
        let descriptor = try FilePlace.open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
