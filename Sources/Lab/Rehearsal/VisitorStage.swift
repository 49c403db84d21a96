import Base
import Radio
import Simulation

/// Lets one simulated vehicle search for its service with a real adapter, and connect to it.
struct VisitorStage: Sendable {
    /// The pause before it searches again.
    private static let pause = Duration.milliseconds(200)

    let label: String
    let adapter: String
    let depot: SimulatedDepot
    let central: any Central
    /// Real time, which the real adapter's deadlines use.
    let clock: any Timekeeper
    /// The characteristics in the service: one for the host's notifications, and one for the
    /// vehicle's writes.
    let socket: (notify: GATTUUID, write: GATTUUID)
    let note: @Sendable (RehearsalNote) -> Void

    private var time: VirtualTime { depot.simulation.time }

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if let service = await sought() {
                do throws(RadioError) {
                    try await visit(service)
                } catch {
                    note(.refused(adapter: adapter, what: "\(label): \(error.description)"))
                }
            }
            await time.sleep(for: Self.pause, "\(label) looking again")
        }
    }

    private func sought() async -> GATTUUID? {
        await depot.simulation.air.arrange { world in
            world.visitors.first { $0.label == label }?.seeks
        }
    }

    /// Connects to a host that advertises the service, and stays until one of the two ends the
    /// link.
    private func visit(_ service: GATTUUID) async throws(RadioError) {
        guard let host = try await find(service) else { return }
        let link = try await central.connect(to: host, before: clock.now.advanced(by: .seconds(30)))
        note(.visits(vehicle: label, adapter: adapter, host: host.handle))
        do throws(RadioError) {
            try await converse(link, service)
        } catch {
            await leave(link)
            throw error
        }
        await leave(link)
    }

    private func leave(_ link: any Link) async {
        await link.disconnect()
        // The host's services may have changed when it is found again.
        await central.forget(link.peer)
        note(.leaves(vehicle: label, adapter: adapter))
        let record = await depot.simulation.air.arrange { world in
            world.visitors.first { $0.label == label }?.record
        }
        if let record { note(.record(module: label, adapter: adapter, record)) }
    }

    private func find(_ service: GATTUUID) async throws(RadioError) -> Peer? {
        let filter = ScanFilter(services: [service])
        let deadline = clock.now.advanced(by: .seconds(20))
        return try await central.withScan(filter) { scan throws(RadioError) -> Peer? in
            do throws(RadioError) {
                return try await scan.next(before: deadline).peer
            } catch .timedOut {
                return nil
            }
        }
    }

    private func converse(_ link: any Link, _ service: GATTUUID) async throws(RadioError) {
        let notify = Characteristic(socket.notify, of: service)
        let write = Characteristic(socket.write, of: service)
        try link.require(notify)
        try link.require(write)
        let description = ServiceDescription(
            uuid: service,
            notify: socket.notify,
            write: socket.write
        )
        let deadline = time.now.advanced(by: .seconds(30))
        try await depot.radio(adapter).withService(description) {
            published throws(RadioError) in
            let vehicle = try await published.nextCentral(before: deadline)
            let heard = try await link.subscribe(
                to: notify,
                before: clock.now.advanced(by: .seconds(30))
            )
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await passOn(heard, to: vehicle) }
                group.addTask { await passOn(vehicle, to: link, write) }
                await group.next()
                group.cancelAll()
            }
            await vehicle.disconnect()
        }
    }

    /// Passes bytes from the host to the vehicle, in pieces that the vehicle accepts.
    private func passOn(_ heard: any Subscription, to vehicle: any CentralLink) async {
        do throws(RadioError) {
            while !Task.isCancelled {
                let bytes: [UInt8]
                do throws(RadioError) {
                    bytes = try await heard.next(before: clock.now.advanced(by: .seconds(60)))
                } catch .timedOut { continue }
                let length = vehicle.maximumLength
                for start in stride(from: 0, to: bytes.count, by: length) {
                    try await vehicle.notify(Array(bytes[start..<min(start + length, bytes.count)]))
                }
            }
        } catch {}
    }

    /// Passes bytes from the vehicle to the host.
    private func passOn(
        _ vehicle: any CentralLink,
        to link: any Link,
        _ write: Characteristic
    ) async {
        do throws(RadioError) {
            while !Task.isCancelled {
                let bytes: [UInt8]
                do throws(RadioError) {
                    bytes = try await vehicle.nextWrite(
                        before: time.now.advanced(by: .seconds(60))
                    )
                } catch .timedOut { continue }
                for start in stride(from: 0, to: bytes.count, by: link.maximumLength) {
                    let end = min(start + link.maximumLength, bytes.count)
                    try await link.write(
                        Array(bytes[start..<end]),
                        to: write,
                        before: clock.now.advanced(by: .seconds(30))
                    )
                }
            }
        } catch {}
    }
}
