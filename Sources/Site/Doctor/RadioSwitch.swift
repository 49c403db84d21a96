import Glibc

/// The kernel's switches for radio.
package enum RadioSwitch {
    package enum Block: Sendable { case none, soft, hard }

    /// The worst state of all Bluetooth switches.
    package static func all(_ folder: String = "/sys/class/rfkill") -> Block {
        var worst = Block.none
        for number in 0..<32 {
            let path = "\(folder)/rfkill\(number)"
            guard SmallFile.text(path + "/type")?.hasPrefix("bluetooth") == true else { continue }
            if SmallFile.text(path + "/hard")?.hasPrefix("1") == true { return .hard }
            if SmallFile.text(path + "/soft")?.hasPrefix("1") == true { worst = .soft }
        }
        return worst
    }
}

/// A small file of the system.
enum SmallFile {
    /// The first 64 KiB of a file, nil when it cannot be read.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(file, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
