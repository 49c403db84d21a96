import Base
import BlueZ
import Glibc
import PrivateBus
import Radio
import RadioContract
import ScriptedHost

/// Measures the host's radio on a private bus, with a scripted bluetoothd in another process.
///
///     bluez-bench serve CROWD            a bus and a bluetoothd; prints the address, ends with stdin
///     bluez-bench packets ADDRESS N      packets through the acquired socket beside WriteValue
///     bluez-bench exchanges ADDRESS N    frames of 384 bytes, one sent and one received at a time
///     bluez-bench crowd ADDRESS SECONDS  a scan for one module among the crowd
///     bluez-bench cycles ADDRESS N       what is left after N links
///     bluez-bench restarts N             what is left after N restarts of a bluetoothd, each after a link
///     bluez-bench links ADDRESS N        our own time to connect, to discover and for one request
@main
enum BlueZBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let number = arguments.last.flatMap { Int($0) }
        guard let verb = arguments.first, let number, number >= 0 else { usage() }
        if verb == "serve", arguments.count == 2 { return try await serve(crowd: number) }
        if verb == "restarts", arguments.count == 2 { return try await restarts(number) }
        guard arguments.count == 3, let address = BusAddress(arguments[1]) else { usage() }
        let host = try BlueZ(address)
        let bench = try site(address, host)
        switch verb {
        case "packets": try await bench.packets(number)
        case "exchanges": try await bench.exchanges(number)
        case "crowd": try await bench.crowd(seconds: number)
        case "cycles": try await bench.cycles(number)
        case "links": try await bench.links(number)
        default: usage()
        }
        await host.close()
    }

    private static func site(_ address: BusAddress, _ host: BlueZ) throws -> BlueZBenchSite {
        let loop = try EventLoop.start(name: "bench")
        return BlueZBenchSite(
            address: address,
            loop: loop,
            time: LoopTime(loop: loop),
            host: host
        )
    }

    /// Both sides are in this process, so that everything that either of them keeps is visible.
    private static func restarts(_ count: Int) async throws {
        let daemon = try PrivateBus()
        guard let address = BusAddress(daemon.address) else { throw BusError.disconnected }
        let fake = try ScriptedBlueZ(address)
        try await fake.start()
        let host = try BlueZ(address)
        try await site(address, host).cycles(count, of: "restarts") {
            await fake.stop()
            try await fake.start()
        }
        await host.close()
        await fake.close()
    }

    private static func usage() -> Never {
        print(
            "usage: bluez-bench serve CROWD | packets|exchanges|crowd|cycles|links ADDRESS N | restarts N"
        )
        exit(64)
    }

    private static func serve(crowd: Int) async throws {
        let daemon = try PrivateBus()
        guard let address = BusAddress(daemon.address) else { throw BusError.disconnected }
        let fake = try ScriptedBlueZ(address)
        try await fake.start()
        await fake.change {
            $0.crowd = crowd
            $0.mtu = 517
        }
        print(daemon.address)
        fflush(nil)
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {}
        await fake.close()
    }
}
