import Base
import Glibc

/// The resources that this process uses.
enum Usage {
    static func processor() -> Duration {
        var use = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &use)
        return [use.ru_utime, use.ru_stime].reduce(.zero) { sum, part in
            sum + .seconds(Int64(part.tv_sec)) + .microseconds(Int64(part.tv_usec))
        }
    }

    /// Resident memory in KiB.
    static func memory() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 128)
        guard fgets(&buffer, CInt(buffer.count), file) != nil else { return 0 }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(CInt(_SC_PAGESIZE)) / 1_024
    }

    static func descriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}

/// Numbers in the form of the tables.
enum Decimals {
    static func text(_ number: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1) { power, _ in power * 10 }
        let scaled = Int((number * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count)
            + fraction
    }
}

extension Duration {
    var seconds: Double { Double(nanoseconds) / 1_000_000_000 }
    var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
