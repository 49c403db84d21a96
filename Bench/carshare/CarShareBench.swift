import Base
import Families
import Glibc
import Simulation

/// Measures the cost of a car-share command on this machine: `carshare TENANT.der RESERVATION.der
/// N`.
///
/// In simulation the air takes no real time, so only our own time is left, and the time of the
/// simulated vehicle, which verifies two signatures; the latter is measured separately and
/// subtracted.
@main
enum CarShareBench {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]), count > 0,
            let issuer = GOTokenIssuer(
                tenant: contents(arguments[1]),
                reservation: contents(arguments[2])
            ),
            let serial = Serial("bench")
        else {
            print("usage: carshare TENANT.der RESERVATION.der N")
            exit(64)
        }
        let start = Simulation.firstEvening
        let reservation = issuer.reservation(
            hardwareID: 7,
            from: start.advanced(by: .seconds(-60)),
            until: start.advanced(by: .seconds(86_400 * 365))
        )
        guard let text = issuer.token(reservation),
            let credentials = try? CarShareCredentials(text: text)
        else {
            print("the keys make no token")
            exit(1)
        }
        print("| size of a notification | own time for a command, ms | of it signing, ms |")
        print("|---|---|---|")
        for mtu in [23, 185, 247] {
            var plan = GOPlan(serial: serial, hardwareID: 7)
            plan.tenants = [issuer.modulus]
            plan.link.mtu = mtu
            measure(plan, credentials, count: count)
        }
    }

    private static func measure(_ plan: GOPlan, _ credentials: CarShareCredentials, count: Int) {
        let simulation = Simulation(seed: 1)
        let began = now()
        let result = try? simulation.run { () async -> (good: Int, vehicle: Duration) in
            await simulation.air.addAdapter("hci0")
            await simulation.air.arrange { world in world.add(plan) }
            let vehicle = CarShareVehicle(
                peripheral: SimulatedRadio(adapter: "hci0", air: simulation.air),
                credentials: credentials,
                time: simulation.time
            )
            var good = 0
            for _ in 0..<count {
                if (try? await vehicle.send(CarShareCommands(.lock))) != nil { good += 1 }
            }
            let spent = await simulation.air.arrange { world -> Duration in
                let device = world.visitors.lazy.compactMap { $0 as? GODevice }.first
                return device.map { verification(of: $0, credentials) } ?? .zero
            }
            return (good, spent)
        }
        let total = began.duration(to: now())
        guard let result, result.good == count else {
            print("of \(count) commands \(result?.good ?? 0) succeeded")
            exit(1)
        }
        let own = total / count - result.vehicle
        print("| \(plan.link.mtu - 3) | \(text(own)) | \(text(signing(credentials))) |")
    }

    /// The time in which the vehicle verifies one command.
    private static func verification(
        of device: GODevice,
        _ credentials: CarShareCredentials
    ) -> Duration {
        guard let challenge = CarShareChallenge([UInt8](repeating: 1, count: 32)),
            let body = credentials.message(CarShareCommands(.lock), challenge)
        else { return .zero }
        let rounds = 50
        let began = now()
        for _ in 0..<rounds { device.rehearse(Array(body.dropFirst()), challenge) }
        return began.duration(to: now()) / rounds
    }

    private static func signing(_ credentials: CarShareCredentials) -> Duration {
        guard let challenge = CarShareChallenge([UInt8](repeating: 1, count: 32)) else {
            return .zero
        }
        let rounds = 50
        let began = now()
        for _ in 0..<rounds { _ = credentials.message(CarShareCommands(.lock), challenge) }
        return began.duration(to: now()) / rounds
    }

    private static func now() -> Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    private static func text(_ duration: Duration) -> String {
        let hundredths = (duration.nanoseconds + 5_000) / 10_000
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private static func contents(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes[..<max(0, count)])
    }
}
